package room

import (
	"errors"
	"fmt"
	"time"
)

// DefaultTextLimit is the longest text in code points.
const DefaultTextLimit = 4000

// DefaultSettleTime is how long after a request's end the room may still apply it.
const DefaultSettleTime = 5 * time.Second

// Config is the room's part of the configuration file. The zero value is the
// default.
type Config struct {
	// TextLimit is the longest text in code points; 0 means [DefaultTextLimit].
	TextLimit int `yaml:"text_limit"`
	// SettleTime bounds how late a fault may apply; 0 means [DefaultSettleTime].
	SettleTime time.Duration `yaml:"settle_time"`
	// Faults plays random faults.
	Faults FaultMix `yaml:"faults"`
	// Script plays chosen faults from the start.
	Script []Fault `yaml:"script"`
}

func (c Config) withDefaults() Config {
	if c.TextLimit == 0 {
		c.TextLimit = DefaultTextLimit
	}
	if c.SettleTime == 0 {
		c.SettleTime = DefaultSettleTime
	}
	return c
}

// Validate says everything that is wrong with the configuration.
func (c Config) Validate() error {
	var errs []error
	if c.TextLimit < 0 {
		errs = append(errs, fmt.Errorf("text_limit: %d is negative", c.TextLimit))
	}
	if c.SettleTime < 0 {
		errs = append(errs, fmt.Errorf("settle_time: %s is negative", c.SettleTime))
	}
	settle := c.withDefaults().SettleTime
	errs = append(errs, c.Faults.validate(settle))
	for i, f := range c.Script {
		if err := f.validate(settle); err != nil {
			errs = append(errs, fmt.Errorf("script[%d]: %w", i, err))
		}
	}
	return errors.Join(errs...)
}
