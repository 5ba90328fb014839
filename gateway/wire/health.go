package wire

// Health says that the process answers.
type Health struct {
	Status  string `json:"status" example:"ok" doc:"Always ok."`
	Version string `json:"version" doc:"The program's version." example:"1.0.0"`
}

// Ready says whether the gateway can do its work.
type Ready struct {
	Ready  bool    `json:"ready" doc:"It can." example:"true"`
	Checks []Check `json:"checks" doc:"What was looked at."`
}

// Check is one thing that was looked at. A platform that isn't well never
// makes the gateway unready.
type Check struct {
	Name   string `json:"name" doc:"What." example:"audit store"`
	OK     bool   `json:"ok" doc:"It is well." example:"true"`
	Needed bool   `json:"needed" doc:"The gateway isn't ready without it."`
	Detail string `json:"detail,omitempty" doc:"What is wrong, or worth knowing."`
}
