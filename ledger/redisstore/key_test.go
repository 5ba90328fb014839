package redisstore_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stet/arms"
	"stet/ledger"
	"stet/ledger/redisstore"
	"stet/ledger/redisstore/redistest"
)

func FuzzNoTwoMessagesShareAKey(f *testing.F) {
	f.Add("a", "b", "c", "d", "e", "a", "b", "c", "d", "ee")
	f.Add("acme:room", "", "", "", "m1", "acme", "room", "", "", "m1")
	f.Add("acme", "room", "w1", "general", "m:1", "acme", "room", "w1", "general:m", "1")
	f.Add("\x01", "", "", "", "", "", "\x01", "", "", "")
	f.Fuzz(func(t *testing.T, o1, p1, w1, c1, i1, o2, p2, w2, c2, i2 string) {
		a := ledger.Key{Org: o1, Platform: arms.Platform(p1), Workspace: w1, Channel: arms.ChannelID(c1), ID: arms.MessageID(i1)}
		b := ledger.Key{Org: o2, Platform: arms.Platform(p2), Workspace: w2, Channel: arms.ChannelID(c2), ID: arms.MessageID(i2)}
		ka, bucket := redisstore.Place(a)
		kb, _ := redisstore.Place(b)
		if (a == b) != (ka == kb) {
			t.Errorf("%+v has %s, %+v has %s", a, ka, b, kb)
		}
		if want := fmt.Sprintf("stet:l1:{stet-%02x}:", bucket); !strings.HasPrefix(ka, want) || strings.Count(ka, "{") != 1 {
			t.Errorf("%s doesn't start with %s", ka, want)
		}
	})
}

func FuzzValuesReadBackOrNotAtAll(f *testing.F) {
	raw, _ := redisstore.Encode(entry("m1"))
	f.Add(string(raw), "acme", "m1")
	f.Add(strings.Replace(string(raw), "m1", "m2", 1), "acme", "m1")
	f.Add("null", "", "")
	f.Add(`{"v":1,"org":"acme","platform":"","workspace":"","channel":"","id":"m1"}`, "acme", "m1")
	f.Add("{}", "", "")
	f.Fuzz(func(t *testing.T, value, org, id string) {
		k := entry(id).Key
		k.Org = org
		e, ok := redisstore.Decode([]byte(value), k)
		if !ok {
			return
		}
		if e.Key != k {
			t.Errorf("%q is about %+v, asked for %+v", value, e.Key, k)
		}
		again, ok := redisstore.Encode(e)
		if !ok || string(again) != value {
			t.Errorf("%q reads as %q", value, again)
		}
	})
}

func FuzzEncodeThenDecode(f *testing.F) {
	f.Add("acme", "m1", "th", "https://service.example/", int64(1), int64(2), int64(0), true, 3)
	f.Fuzz(func(t *testing.T, org, id, thread, service string, posted, until, closed int64, dry bool, part int) {
		at := func(n int64) time.Time {
			if n%(1<<50) == 0 {
				return time.Time{}
			}
			return time.UnixMicro(n % (1 << 50)).UTC()
		}
		e := entry(id)
		e.Org, e.Thread, e.ServiceURL, e.DryRun, e.Part = org, arms.ThreadID(thread), service, dry, part
		e.PostedAt, e.EditableUntil, e.ClosedAt = at(posted), at(until), at(closed)
		raw, ok := redisstore.Encode(e)
		if !ok {
			return
		}
		if got, ok := redisstore.Decode(raw, e.Key); !ok || got != e {
			t.Errorf("%+v reads back as %+v, %v", e, got, ok)
		}
	})
}

func TestAllKeysOfACallAreInOneSlotAndBucketsAreSpread(t *testing.T) {
	s := redistest.Start(t, "--cluster-enabled", "yes", "--port", "0")
	slots := map[any]bool{}
	for i := range 300 {
		keys := redisstore.KeyedForTest(entry(fmt.Sprint("m", i)).Key)
		slot := s.Do("CLUSTER", "KEYSLOT", keys[0])
		slots[slot] = true
		for _, k := range keys[1:] {
			if other := s.Do("CLUSTER", "KEYSLOT", k); other != slot {
				t.Errorf("%s is in slot %v, %s in %v", keys[0], slot, k, other)
			}
		}
	}
	if len(slots) < redisstore.Buckets/2 {
		t.Errorf("300 messages are in %d slots", len(slots))
	}
}
