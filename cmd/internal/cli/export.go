package cli

import (
	"bufio"
	"errors"
	"os"
)

type auditExport struct {
	where  `embed:""`
	filter `embed:""`
	Format string `enum:"csv,jsonl" default:"jsonl" help:"The format: ${enum}."`
	Output string `short:"o" placeholder:"FILE" complete:"file" help:"Write to a file that isn't there yet instead of standard output."`
}

// Run copies the matching rows.
func (c auditExport) Run(r *run) (err error) {
	gw, f, err := r.auditor(c.where, c.filter)
	if err != nil {
		return err
	}
	out := r.Out
	if c.Output != "" {
		file, openErr := os.OpenFile(c.Output, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if openErr != nil {
			return openErr
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		out = file
	}
	buffered := bufio.NewWriter(out)
	format := map[string]string{"csv": "csv", "jsonl": "ndjson"}[c.Format]
	return errors.Join(gw.Export(r.ctx, f, format, buffered), buffered.Flush())
}
