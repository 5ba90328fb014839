package postgres

import (
	"crypto/rand"
	"encoding/binary"
	"sync"
)

// session names, across all replicas, what the committer sends now. After a
// commit that nobody confirmed it takes another name: what it sent under the
// one before may still be running at the server, and [Store.Probe] waits for
// that and for nothing else.
type session struct {
	mu    sync.Mutex
	name  int64
	doubt []int64
}

func (s *session) current() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.name == 0 {
		s.name = randomName()
	}
	return s.name
}

// lost says that what was sent last may still be on its way.
func (s *session) lost() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doubt = append(s.doubt, s.name)
	s.name = randomName()
}

// doubtful answers the names under which something may still be on its way.
func (s *session) doubtful() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]int64(nil), s.doubt...)
}

// over says that nothing is on its way any more under these first names.
func (s *session) over(names []int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(names) <= len(s.doubt) {
		s.doubt = s.doubt[len(names):]
	}
}

func randomName() int64 {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic("postgres: no randomness") // crypto/rand never fails on supported systems
	}
	return int64(binary.BigEndian.Uint64(b[:]))
}
