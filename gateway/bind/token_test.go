package bind_test

import (
	"math"
	"strings"
	"testing"

	"stet/gateway/bind"
)

func TestMintedCredentialsParseAndDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 200 {
		for _, kind := range []bind.Kind{bind.HostKey, bind.OpsKey, bind.TurnToken} {
			clear, minted := bind.Mint(kind)
			got, parsed, ok := bind.Parse(clear)
			if !ok || got != kind || parsed.ID != minted.ID || !parsed.Matches(minted.Hash) {
				t.Fatalf("a minted %s does not parse", kind)
			}
			if seen[clear] || seen[minted.ID] {
				t.Fatal("two are the same")
			}
			seen[clear], seen[minted.ID] = true, true
			if strings.Contains(string(minted.Hash), clear[len(clear)-20:]) {
				t.Fatal("the stored hash holds the secret")
			}
		}
	}
}

func TestSecretHasAtLeast160Bits(t *testing.T) {
	clear, minted := bind.Mint(bind.HostKey)
	secret := len(clear) - len("stet_host_") - len(minted.ID) - 6
	if bits := float64(secret) * math.Log2(62); bits < 160 {
		t.Errorf("%.0f bits", bits)
	}
}

func TestEveryMistypedCharacterIsNoticed(t *testing.T) {
	clear, _ := bind.Mint(bind.TurnToken)
	for i := range clear {
		if _, _, ok := bind.Parse(flip(clear, i)); ok {
			t.Errorf("a mistake at %d went by", i)
		}
	}
}

// FuzzParse: whatever parses is of a known kind and has its parts where they
// belong; nothing panics.
func FuzzParse(f *testing.F) {
	for _, kind := range []bind.Kind{bind.HostKey, bind.OpsKey, bind.TurnToken} {
		clear, _ := bind.Mint(kind)
		f.Add(clear)
		f.Add(clear[1:])
		f.Add(clear + "_")
	}
	f.Add("stet_host_")
	f.Add("_")
	f.Fuzz(func(t *testing.T, clear string) {
		kind, token, ok := bind.Parse(clear)
		if !ok {
			if kind != "" || token.ID != "" || token.Hash != nil {
				t.Fatal("what is refused was answered in part")
			}
			return
		}
		if !strings.HasPrefix(clear, string(kind)+"_"+token.ID) || len(token.Hash) != 32 {
			t.Fatalf("parsed as %s with id %q", kind, token.ID)
		}
	})
}
