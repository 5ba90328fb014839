package room

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
)

// A message id is "m", the message's number in nine base-36 digits, and four
// random letters. The number makes ids sort by age; the letters keep the ids of
// a file that was thrown away from meaning something in the next one.
const (
	idDigits  = 9
	idLetters = 4
	idLength  = 1 + idDigits + idLetters
)

const letters = "abcdefghijklmnopqrstuvwxyz234567"

func makeID(seq int64) string {
	var b [idLetters]byte
	_, _ = rand.Read(b[:]) // never fails, by its contract
	for i, c := range b {
		b[i] = letters[int(c)%len(letters)]
	}
	return fmt.Sprintf("m%0*s%s", idDigits, strconv.FormatInt(seq, 36), b[:])
}

// validID says whether s has the form of an id; it may still name nothing.
func validID(s string) bool {
	if len(s) != idLength || s[0] != 'm' {
		return false
	}
	for _, c := range s[1:] {
		if !strings.ContainsRune("0123456789abcdefghijklmnopqrstuvwxyz", c) {
			return false
		}
	}
	return true
}
