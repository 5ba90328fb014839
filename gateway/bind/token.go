package bind

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"hash/crc32"
	"strings"
)

// Kind is the typed prefix of a credential, so that a scanner, a person and
// the door can tell at once what a string is.
type Kind string

// The kinds.
const (
	HostKey   Kind = "stet_host"
	OpsKey    Kind = "stet_ops"
	TurnToken Kind = "stet_turn"
)

const (
	base62     = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	publicLen  = 16 // about 95 bits: unique without asking
	secretLen  = 32 // about 190 bits
	checkLen   = 6
	sealedLen  = publicLen + secretLen + checkLen
	checkRange = 62 * 62 * 62 * 62 * 62 * 62
)

// Token is a credential as the store knows it.
type Token struct {
	ID   string
	Hash []byte
}

// Mint makes a new credential of a kind and the token that is stored for it.
// The clear text is shown once and kept nowhere.
func Mint(kind Kind) (clear string, t Token) {
	id, secret := randomText(publicLen), randomText(secretLen)
	body := string(kind) + "_" + id + secret
	return body + checksum(body), Token{ID: id, Hash: hash(secret)}
}

// Parse checks a credential's form and checksum without asking any store and
// splits it. ok is false for anything that was never minted.
func Parse(clear string) (kind Kind, t Token, ok bool) {
	cut := strings.LastIndexByte(clear, '_')
	if cut < 0 || len(clear)-cut-1 != sealedLen {
		return "", Token{}, false
	}
	kind = Kind(clear[:cut])
	switch kind {
	case HostKey, OpsKey, TurnToken:
	default:
		return "", Token{}, false
	}
	body, check := clear[:len(clear)-checkLen], clear[len(clear)-checkLen:]
	if subtle.ConstantTimeCompare([]byte(check), []byte(checksum(body))) != 1 {
		return "", Token{}, false
	}
	rest := body[cut+1:]
	return kind, Token{ID: rest[:publicLen], Hash: hash(rest[publicLen:])}, true
}

// Matches compares two hashes in constant time.
func (t Token) Matches(stored []byte) bool {
	return subtle.ConstantTimeCompare(t.Hash, stored) == 1
}

// hash is a plain digest: the secret has more entropy than any guessing can
// reach, so a slow password hash would buy nothing but latency.
func hash(secret string) []byte {
	h := sha256.Sum256([]byte(secret))
	return h[:]
}

func checksum(body string) string {
	n := uint64(crc32.ChecksumIEEE([]byte(body))) % checkRange
	out := make([]byte, checkLen)
	for i := checkLen - 1; i >= 0; i-- {
		out[i] = base62[n%62]
		n /= 62
	}
	return string(out)
}

// randomText draws n characters of base62 without bias.
func randomText(n int) string {
	out := make([]byte, 0, n)
	buf := make([]byte, n)
	for len(out) < n {
		if _, err := rand.Read(buf); err != nil {
			panic(fmt.Sprintf("bind: no randomness: %v", err)) // crypto/rand never fails on supported systems
		}
		for _, b := range buf {
			if b < 248 && len(out) < n { // 248 = 4*62
				out = append(out, base62[b%62])
			}
		}
	}
	return string(out)
}
