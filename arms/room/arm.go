package room

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"stet/arms"
	"stet/arms/armhttp"
)

// Platform is the room's name in the outer contract.
const Platform arms.Platform = "room"

// Arm is the adapter to one room server.
type Arm struct {
	http       *armhttp.Client
	baseURL    string
	token      *armhttp.Secret // a pointer, so that printing an Arm shows no token
	bot        string
	textLimit  int
	settleTime time.Duration
}

var (
	_ arms.Arm           = (*Arm)(nil)
	_ arms.Poster        = (*Arm)(nil)
	_ arms.Editor        = (*Arm)(nil)
	_ arms.Retractor     = (*Arm)(nil)
	_ arms.Fetcher       = (*Arm)(nil)
	_ arms.Finder        = (*Arm)(nil)
	_ arms.ChannelReader = (*Arm)(nil)
	_ arms.ThreadReader  = (*Arm)(nil)
	_ arms.Prober        = (*Arm)(nil)
)

// ArmOptions says which server an arm talks to; [Server.Endpoint] has the
// first two.
type ArmOptions struct {
	BaseURL string
	Token   armhttp.Secret
	// Transport sends the requests; nil means the shared transport.
	Transport http.RoundTripper
	// SettleTime and TextLimit have to be the server's; 0 means its defaults.
	SettleTime time.Duration
	TextLimit  int
	// Bot is the author's name that the room shows; empty means "stet".
	Bot string
	// Version goes into the user agent.
	Version string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// NewArm makes the adapter. It sends nothing.
func NewArm(o ArmOptions) *Arm {
	sheet := Config{TextLimit: o.TextLimit, SettleTime: o.SettleTime}.withDefaults()
	a := &Arm{
		http:       armhttp.New(armhttp.Options{Transport: o.Transport, Version: o.Version, Now: o.Now}),
		baseURL:    strings.TrimSuffix(o.BaseURL, "/"),
		token:      &o.Token,
		bot:        o.Bot,
		textLimit:  sheet.TextLimit,
		settleTime: sheet.SettleTime,
	}
	if a.bot == "" {
		a.bot = "stet"
	}
	return a
}

// Platform names the arm.
func (a *Arm) Platform() arms.Platform { return Platform }

// CloseIdle closes the connections that no request is using.
func (a *Arm) CloseIdle() { a.http.CloseIdle() }

// Probe asks the server whether it accepts the token.
func (a *Arm) Probe(ctx context.Context) error {
	got, f := a.call(ctx, VerbProbe, request{})
	if f != nil {
		return f
	}
	if !got.OK {
		return mismatch()
	}
	return nil
}

// call sends one request. A nil fault means an answer in the room's own form
// that claims success.
func (a *Arm) call(ctx context.Context, verb string, r request) (answer, *arms.Fault) {
	if !utf8.ValidString(r.Text + r.ID + r.Channel + r.Thread + r.Org) {
		// Encoding would replace bytes, and another text would be sent.
		return answer{}, &arms.Fault{Certainty: arms.NotSent, Code: arms.CodeInvalid}
	}
	body, err := json.Marshal(r)
	if err != nil {
		return answer{}, &arms.Fault{Certainty: arms.NotSent, Code: arms.CodeInvalid}
	}
	got, f := a.http.Do(ctx, armhttp.Request{
		Method: http.MethodPost,
		URL:    a.baseURL + "/api/" + verb,
		Header: http.Header{"Content-Type": {"application/json"}},
		Bearer: *a.token,
		Body:   body,
	})
	if f == nil {
		f = classify(got)
	}
	if f != nil {
		return answer{}, f
	}
	var out answer
	if f := got.Object(&out); f != nil {
		return answer{}, f
	}
	return out, nil
}

// mismatch is the fault of a success that is about something else.
func mismatch() *arms.Fault {
	return armhttp.Ambiguous(arms.CodeMismatch, http.StatusOK)
}
