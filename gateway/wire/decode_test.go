package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"stet/gateway/wire"
)

// requests are all types that a body is decoded into.
func requests() []any {
	return []any{
		&wire.BindRequest{}, &wire.OpenTurnRequest{}, &wire.EvidenceRequest{}, &wire.TranscriptRequest{},
		&wire.ActivityRequest{}, &wire.ReplyRequest{}, &wire.EditRequest{}, &wire.KeyRequest{},
	}
}

func TestDecodeNamesWhatIsWrong(t *testing.T) {
	tests := []struct {
		name string
		into any
		body string
		want string
	}{
		{"nothing", &wire.ReplyRequest{}, " ", "the body is missing: send a JSON object"},
		{"no JSON", &wire.ReplyRequest{}, "text=hi", "the body is not JSON, from byte 2 on"},
		{"a byte order mark", &wire.ReplyRequest{}, "\ufeff{}", "the body is not JSON, from byte 1 on"},
		{"cut off", &wire.ReplyRequest{}, `{"text":"hi`, "the body is not JSON: it ends too early"},
		{"something after it", &wire.ReplyRequest{}, `{"text":"hi"}{}`, "the body holds something after the JSON object, at byte 14"},
		{"a list", &wire.ReplyRequest{}, `[]`, "the body must be an object"},
		{"null", &wire.ReplyRequest{}, `null`, "the body must be an object"},
		{"an unknown field", &wire.ReplyRequest{}, `{"text":"hi","channel":"c"}`, "channel is not a field of this request"},
		{"a field in other letters", &wire.ReplyRequest{}, `{"Text":"hi"}`, "Text is not a field of this request; text is"},
		{"an escaped name that stands twice", &wire.ReplyRequest{}, `{"text":"hi","\u0074ext":"ho"}`, "text is there twice"},
		{"a field twice", &wire.ReplyRequest{}, `{"done":true,"done":false,"text":"x"}`, "done is there twice"},
		{"a missing field", &wire.ReplyRequest{}, `{}`, "text is required"},
		{"a number for a text", &wire.ReplyRequest{}, `{"text":1}`, "text must be a string"},
		{"null for a text", &wire.ReplyRequest{}, `{"text":null}`, "text must be a string"},
		{"null for what could be left out", &wire.ReplyRequest{}, `{"text":"a","done":null}`, "done must be true or false"},
		{"a word for a boolean", &wire.ReplyRequest{}, `{"text":"a","done":"yes"}`, "done must be true or false"},
		{"a value outside of its set", &wire.ReplyRequest{}, `{"text":"a","format":"html"}`, "format must be one of markdown, plain"},
		{"invalid UTF-8 outside of the text", &wire.ReplyRequest{}, "{\"text\":\"a\",\"format\":\"\xff\"}", "format must be valid UTF-8"},
		{"half a surrogate pair outside of the text", &wire.ReplyRequest{}, `{"text":"a","format":"\ud800"}`, "format must be valid UTF-8"},
		{"invalid UTF-8 in a name", &wire.ReplyRequest{}, "{\"te\xffxt\":\"a\"}", "the body has a name that is not valid UTF-8"},
		{"a place in an agent's write", &wire.EditRequest{}, `{"text":"a","service_url":"x"}`, "service_url is not a field of this request"},
		{"deep inside", &wire.OpenTurnRequest{}, `{"session":"s","wake":{"id":"w","origin":{"platform":"room","channel":3}}}`, "wake.origin.channel must be a string"},
		{"missing inside", &wire.OpenTurnRequest{}, `{"session":"s","wake":{"origin":{}}}`, "wake.origin.platform is required"},
		{"unknown inside", &wire.OpenTurnRequest{}, `{"session":"s","wake":{"id":"w","origin":{"team":"x"}}}`, "wake.origin.team is not a field of this request"},
		{"a ref that isn't a string", &wire.OpenTurnRequest{}, `{"session":"s","wake":{"id":"w","refs":{"a":{}}}}`, "wake.refs.a must be a string"},
		{"a ref twice", &wire.OpenTurnRequest{}, `{"session":"s","wake":{"id":"w","refs":{"a":"1","a":"2"}}}`, "wake.refs.a is there twice"},
		{"too long an id", &wire.OpenTurnRequest{}, `{"session":"` + strings.Repeat("é", 201) + `","wake":{"id":"w"}}`, "session must be at most 200 characters"},
		{"too many refs", &wire.OpenTurnRequest{}, manyRefs(33), "wake.refs must have at most 32 keys"},
		{"a name twice in what isn't read", &wire.TranscriptRequest{}, `{"call":"c","name":"n","args":[{"a":1,"a":2}]}`, "args.a is there twice"},
		{"invalid UTF-8 in what isn't read", &wire.TranscriptRequest{}, "{\"call\":\"c\",\"name\":\"n\",\"result\":{\"a\":\"\xff\"}}", "result.a must be valid UTF-8"},
		{"no list", &wire.KeyRequest{}, `{"name":"n","scopes":"ops"}`, "scopes must be a list"},
		{"an empty list", &wire.KeyRequest{}, `{"name":"n","scopes":[]}`, "scopes must have 1 to 3 values"},
		{"a wrong value in a list", &wire.KeyRequest{}, `{"name":"n","scopes":["ops","root"]}`, "scopes.1 must be one of host, ops, reviewer"},
		{"a name that would break a line", &wire.ReplyRequest{}, `{"a\nb":1}`, `a\nb is not a field of this request`},
		{"an endless name", &wire.ReplyRequest{}, `{"` + strings.Repeat("a", 5000) + `":1}`, strings.Repeat("a", 64) + "... is not a field of this request"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := wire.Decode([]byte(tt.body), tt.into)
			var de *wire.DecodeError
			if !errors.As(err, &de) || err.Error() != tt.want {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func manyRefs(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"k` + strings.Repeat("x", i) + `":"v"`)
	}
	return `{"session":"s","wake":{"id":"w","refs":{` + b.String() + `}}}`
}

func TestDecodeTakesWhatIsRight(t *testing.T) {
	tests := []struct {
		name string
		body string
		want any
	}{
		{"the least", `{"text":"hi"}`, wire.ReplyRequest{Text: "hi"}},
		{"everything, with spaces", " {\n\t\"text\" : \"h\\u00e9\" , \"format\":\"plain\",\"overflow\":\"split\",\"done\":true } ",
			wire.ReplyRequest{Text: "hé", Format: "plain", Overflow: "split", Done: true}},
		{"an empty text, which the gateway refuses", `{"text":""}`, wire.ReplyRequest{}},
		{"a pair of surrogates", `{"text":"\ud83d\ude00\\ud800"}`, wire.ReplyRequest{Text: "😀\\ud800"}},
		{"objects in objects", `{"session":"s","wake":{"id":"w","origin":{"platform":"room","channel":"c"},"refs":{"a":"1"}},"dry_run":false}`,
			wire.OpenTurnRequest{Session: "s", Wake: wire.Wake{ID: "w", Origin: &wire.Locus{Platform: "room", Channel: "c"}, Refs: map[string]string{"a": "1"}}}},
		{"any JSON where any will do", `{"call":"c","name":"n","args":{"a":[1,-2.5e3,null,true,"x\ud800"]},"result":null}`,
			wire.TranscriptRequest{Call: "c", Name: "n", Args: json.RawMessage(`{"a":[1,-2.5e3,null,true,"x\ud800"]}`), Result: json.RawMessage("null")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := reflect.New(reflect.TypeOf(tt.want))
			if err := wire.Decode([]byte(tt.body), got.Interface()); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.Elem().Interface(), tt.want) {
				t.Errorf("got %+v, want %+v", got.Elem().Interface(), tt.want)
			}
		})
	}
}

func TestBrokenTextIsTheGatewaysToRefuse(t *testing.T) {
	for name, body := range map[string]string{
		"invalid UTF-8":       "{\"text\":\"a\xffb\"}",
		"an overlong form":    "{\"text\":\"\xc0\xaf\"}",
		"a high half":         `{"text":"a\ud800b"}`,
		"a low half":          `{"text":"\udc00"}`,
		"two high halves":     `{"text":"\ud800\ud800"}`,
		"halves in disorder":  `{"text":"\udc00\ud800"}`,
		"a half, then a word": `{"text":"\ud83d\u0041"}`,
	} {
		t.Run(name, func(t *testing.T) {
			var r wire.EditRequest
			if err := wire.Decode([]byte(body), &r); err != nil {
				t.Fatal(err)
			}
			if !r.Text.Broken() {
				t.Errorf("%q passes for what was meant", r.Text)
			}
			again, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			var back wire.EditRequest
			if err := wire.Decode(again, &back); err != nil || !back.Text.Broken() {
				t.Errorf("on its way through a client it became %s (%v)", again, err)
			}
		})
	}
}

func TestWhatAClientSendsIsWhatTheDoorReads(t *testing.T) {
	for _, r := range []any{
		wire.ReplyRequest{Text: "<b>&\u2028 ✓ \x00\x1f \"q\" \\", Format: "plain", Done: true},
		wire.BindRequest{Org: "o", Workspace: "w", Surface: "s", Principal: "p", Locus: &wire.Locus{Platform: "x", Channel: "c", Thread: "t"}},
		wire.KeyRequest{Name: "n", Scopes: []string{"ops", "reviewer"}, AllOrgs: true},
		wire.EvidenceRequest{Kind: "memory.write", TTL: "10m"},
		wire.ActivityRequest{Message: "m"},
	} {
		body, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		back := reflect.New(reflect.TypeOf(r))
		if err := wire.Decode(body, back.Interface()); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if !reflect.DeepEqual(back.Elem().Interface(), r) {
			t.Errorf("sent %+v, read %+v", r, back.Elem().Interface())
		}
	}
}

// FuzzDecode: what is accepted means the same to a reader that knows nothing
// of the types, so no name was dropped, taken for another, or counted twice.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"text":"hi","done":true}`))
	f.Add([]byte(`{"session":"s","wake":{"id":"w","origin":{"platform":"room","channel":"c"},"refs":{"a":"b"}}}`))
	f.Add([]byte(`{"call":"c","name":"n","args":{"a":[1,{}]},"result":"x"}`))
	f.Add([]byte(`{"name":"n","scopes":["ops"]}`))
	f.Add([]byte(`{"Text":"a","text":"b"}`))
	f.Add([]byte("{\"text\":\"\xff\"}"))
	f.Add([]byte(`{"text":"\ud800"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, into := range requests() {
			err := wire.Decode(body, into)
			var de *wire.DecodeError
			if err != nil {
				if !errors.As(err, &de) || !utf8.ValidString(err.Error()) || strings.ContainsAny(err.Error(), "\n\r\x00") {
					t.Fatalf("a bad error: %q", err)
				}
				continue
			}
			sameToAll(t, body, into)
		}
	})
}

func sameToAll(t *testing.T, body []byte, into any) {
	t.Helper()
	var plain map[string]any
	if err := json.Unmarshal(body, &plain); err != nil {
		t.Fatalf("accepted and not JSON: %v", err)
	}
	again, err := json.Marshal(into)
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]any
	if err := json.Unmarshal(again, &back); err != nil {
		t.Fatal(err)
	}
	for name, v := range plain {
		if name == "text" && strings.ContainsRune(v.(string), utf8.RuneError) {
			continue // a broken text is not what was sent, and says so
		}
		if isEmpty(v) && back[name] == nil {
			continue // an empty value that may be left out
		}
		if !reflect.DeepEqual(prune(v), prune(back[name])) {
			t.Fatalf("%q: sent %v, read %v", name, v, back[name])
		}
	}
	strict := json.NewDecoder(bytes.NewReader(body))
	strict.DisallowUnknownFields()
	if err := strict.Decode(reflect.New(reflect.TypeOf(into).Elem()).Interface()); err != nil {
		t.Fatalf("accepted and refused by the standard reader: %v", err)
	}
}

func isEmpty(v any) bool {
	return v == nil || v == "" || v == false || reflect.DeepEqual(v, map[string]any{})
}

// prune drops empty values, which may be left out, of objects in v.
func prune(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	for k, e := range m {
		if e = prune(e); !isEmpty(e) {
			out[k] = e
		}
	}
	return out
}

func BenchmarkDecode(b *testing.B) {
	body := []byte(`{"text":"` + strings.Repeat("word ", 400) + `","format":"markdown","done":true}`)
	b.ReportAllocs()
	for b.Loop() {
		var r wire.ReplyRequest
		if err := wire.Decode(body, &r); err != nil {
			b.Fatal(err)
		}
	}
}
