package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/google/uuid"

	"stet/audit"
	"stet/gateway/outcome"
	"stet/gateway/wire"
)

type auditIn struct {
	RowFilter
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"How many rows a page has; for JSON alone."`
	Before string `query:"before" doc:"The page's next, for the page after it; for JSON alone."`
	Format string `query:"format" enum:"json,ndjson,csv" doc:"json: a page, newest first. ndjson and csv: every match, oldest first. Left out: what Accept asks for, else json."`
	Accept string `header:"Accept" doc:"application/x-ndjson or text/csv stream every match, oldest first."`
}

type countIn struct {
	RowFilter
	By []string `query:"by" enum:"org,platform,workspace,surface,principal,session,turn,wake,attempt,kind,action,outcome,reason,failure,status,code,dry_run" doc:"The columns to count by, with commas between."`
}

type rowIn struct {
	ID string `path:"id" doc:"The row's id."`
}

const tagAudit = "Audit"

func (s *server) auditRoutes() {
	schemas := s.api.OpenAPI().Components.Schemas
	handle(s, route{
		id: "list-rows", method: http.MethodGet, path: "/v1/audit", tag: tagAudit, plane: opsPlane,
		status: http.StatusOK, summary: "Read the trail",
		about: "Rows of the trail. A column given more than once takes any of its values. A key of one organization sees that one's rows.",
		content: map[string]*huma.MediaType{
			"application/json": {Schema: schemas.Schema(rowPageType, true, "")},
			typeNDJSON:         {Schema: schemas.Schema(rowType, true, "")},
			typeCSV:            {Schema: &huma.Schema{Type: huma.TypeString}},
		},
	}, s.listRows)
	handle(s, route{
		id: "count-rows", method: http.MethodGet, path: "/v1/audit/count", tag: tagAudit, plane: opsPlane,
		status: http.StatusOK, summary: "Count rows", about: "Counts matching rows by columns, largest group first.",
	}, s.countRows)
	handle(s, route{
		id: "show-row", method: http.MethodGet, path: "/v1/audit/{id}", tag: tagAudit, plane: opsPlane,
		status: http.StatusOK, summary: "Read one row", about: "One row of the trail.",
		reasons: []outcome.Reason{outcome.NotFound},
	}, s.showRow)
}

// style is the form in which rows were asked for.
func (in *auditIn) style() string {
	if in.Format != "" {
		return in.Format
	}
	for _, part := range strings.Split(in.Accept, ",") {
		kind, _, _ := strings.Cut(part, ";")
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case typeNDJSON:
			return "ndjson"
		case typeCSV:
			return "csv"
		case "application/json":
			return "json"
		}
	}
	return "json"
}

func (s *server) listRows(ctx context.Context, in *auditIn) (*huma.StreamResponse, error) {
	f, possible := in.filter(callerOf(ctx).Key)
	if style := in.style(); style != "json" {
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			_, w := humago.Unwrap(hc)
			s.stream(ctx, w, newRowWriter(style, w), f, possible)
		}}, nil
	}
	page, err := s.page(ctx, in, f, possible)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		hc.SetHeader("Content-Type", "application/json")
		_ = format.Marshal(hc.BodyWriter(), page)
	}}, nil
}

func (s *server) page(ctx context.Context, in *auditIn, f audit.Filter, possible bool) (wire.RowPage, error) {
	page := wire.RowPage{Rows: []wire.Row{}}
	if in.Before != "" {
		if _, err := uuid.Parse(in.Before); err != nil {
			return page, badRequest("before must be the next of an earlier page")
		}
	}
	if !possible {
		return page, nil
	}
	// One more than asked for tells whether there is a further page; the trail's
	// own pages are larger than the largest one here.
	rows, err := s.Trail.Query(ctx, f, audit.Page{Limit: in.Limit + 1, Before: in.Before})
	if err != nil {
		return page, err
	}
	if len(rows) > in.Limit {
		rows = rows[:in.Limit]
		page.Next = rows[in.Limit-1].ID
	}
	for _, r := range rows {
		page.Rows = append(page.Rows, row(r))
	}
	return page, nil
}

func (s *server) countRows(ctx context.Context, in *countIn) (*out[wire.Count], error) {
	count := wire.Count{Groups: []wire.Group{}}
	f, possible := in.filter(callerOf(ctx).Key)
	if !possible {
		return answer(count), nil
	}
	by := make([]audit.Column, 0, len(in.By))
	for _, name := range in.By {
		by = append(by, audit.Column(name))
	}
	groups, err := s.Trail.Count(ctx, f, by)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		values := make(map[string]string, len(g.Values))
		for column, v := range g.Values {
			values[string(column)] = v
		}
		count.Groups = append(count.Groups, wire.Group{By: values, Count: g.Rows})
		count.Total += g.Rows
	}
	return answer(count), nil
}

func (s *server) showRow(ctx context.Context, in *rowIn) (*out[wire.Row], error) {
	r, err := s.Trail.Row(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if k := callerOf(ctx).Key; !k.Spans(r.Org) {
		return nil, audit.ErrNotFound
	}
	return answer(row(r)), nil
}
