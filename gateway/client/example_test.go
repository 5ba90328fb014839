package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"stet/gateway/client"
	"stet/gateway/wire"
)

// gateway stands in for a running one.
func gateway() *httptest.Server {
	mux := http.NewServeMux()
	answer := func(pattern string, status int, kind, body string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		})
	}
	answer("POST /v1/turns", 201, "application/json", `{"turn":"t-1","token":"stet_turn_x","expires_at":"2026-01-02T15:04:05Z"}`)
	answer("POST /v1/replies", 201, "application/json", `{"id":"m-1","parts":["m-1"],"attempt":"a-1","withheld":[]}`)
	answer("PATCH /v1/replies/m-1", 200, "application/json", `{"id":"m-1","parts":["m-1"],"attempt":"a-2","unchanged":false,"withheld":[]}`)
	answer("PATCH /v1/replies/m-9", 403, wire.ProblemType, `{"reason":"not-own-post","outcome":"refused","detail":"not one of your own recent posts","attempt":"a-3","status":403}`)
	answer("GET /v1/audit", 200, "application/x-ndjson", "{\"action\":\"reply.post\",\"outcome\":\"applied\"}\n{\"action\":\"reply.edit\",\"outcome\":\"applied\"}\n")
	return httptest.NewServer(mux)
}

// A host opens a turn; the agent replies with the turn's token and corrects
// itself.
func Example() {
	srv := gateway()
	defer srv.Close()
	ctx := context.Background()

	host, err := client.New(srv.URL, client.WithKey("stet_host_..."))
	if err != nil {
		fmt.Println(err)
		return
	}
	turn, err := host.OpenTurn(ctx, wire.OpenTurnRequest{
		Session: "s-1", Wake: wire.Wake{ID: "evt-1", Origin: &wire.Locus{Platform: "room", Channel: "lobby"}},
		Org: "acme", Workspace: "main", Surface: "room", Principal: "helper-bot",
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	agent := host.With(turn.Token)
	said, err := agent.Reply(ctx, wire.ReplyRequest{Text: "The meeting is at 3."}, client.IdempotencyKey("k-1"))
	if err != nil {
		fmt.Println(err)
		return
	}
	edited, err := agent.Edit(ctx, said.ID, wire.EditRequest{Text: "The meeting is at 4."})
	fmt.Println(said.ID, edited.Attempt, err)
	// Output: m-1 a-2 <nil>
}

// A refusal says why, and what to do now.
func ExampleError() {
	srv := gateway()
	defer srv.Close()
	agent, err := client.New(srv.URL, client.WithKey("stet_turn_..."))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = agent.Edit(context.Background(), "m-9", wire.EditRequest{Text: "x"})
	var refused *client.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Reason, refused.Outcome, refused.Attempt)
	}
	// Output: not-own-post refused a-3
}

// An operator reads the trail as a stream, oldest first.
func ExampleClient_EachRow() {
	srv := gateway()
	defer srv.Close()
	ops, err := client.New(srv.URL, client.WithKey("stet_ops_..."))
	if err != nil {
		fmt.Println(err)
		return
	}
	for row, err := range ops.EachRow(context.Background(), client.Filter{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(row.Action, row.Outcome)
	}
	// Output:
	// reply.post applied
	// reply.edit applied
}
