package wire

// Locus is where a verb lands, resolved by the host in every field.
type Locus struct {
	Platform     string `json:"platform" maxLength:"200" doc:"The platform." example:"room"`
	Workspace    string `json:"workspace,omitempty" maxLength:"200" doc:"The workspace; the session's if left out."`
	Channel      string `json:"channel" maxLength:"512" doc:"The platform's own id of the conversation." example:"lobby"`
	Thread       string `json:"thread,omitempty" maxLength:"512" doc:"The platform's own id of the thread, if in one."`
	ServiceURL   string `json:"service_url,omitempty" maxLength:"2048" doc:"Teams: where its requests go."`
	Organization string `json:"organization,omitempty" maxLength:"512" doc:"Linear: its organization."`
}

// BindRequest binds a session.
type BindRequest struct {
	Org       string `json:"org,omitempty" maxLength:"200" doc:"The organization; left out where the key has one." example:"acme"`
	Workspace string `json:"workspace" maxLength:"200" doc:"The workspace on the platform." example:"main"`
	Surface   string `json:"surface" maxLength:"200" doc:"The host's word for where the conversation is." example:"room"`
	Principal string `json:"principal" maxLength:"200" doc:"Who speaks." example:"helper-bot"`
	Locus     *Locus `json:"locus,omitempty" doc:"Where replies land when a wake has no origin."`
}

// Session is a session as it is bound now.
type Session struct {
	Session   string `json:"session" doc:"The session's id." example:"s-1"`
	Org       string `json:"org" doc:"The organization." example:"acme"`
	Workspace string `json:"workspace" doc:"The workspace." example:"main"`
	Surface   string `json:"surface" doc:"Where the conversation is." example:"room"`
	Principal string `json:"principal" doc:"Who speaks." example:"helper-bot"`
	Locus     *Locus `json:"locus,omitempty" doc:"Where it is bound; left out for a session that is bound nowhere."`
}
