package redisstore

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"

	"github.com/redis/go-redis/v9"
)

// errOpen: the breaker is open, Redis wasn't asked.
var errOpen = errors.New("redisstore: the breaker is open")

// errServer is an error with nothing of a server's or an address's words in it.
type errServer struct{ reason Reason }

func (e errServer) Error() string { return "redisstore: " + e.reason.Sentence() }

// Reason is why a call to Redis failed; a closed set.
type Reason string

// The reasons.
const (
	ReasonTimeout    Reason = "timeout"
	ReasonConnect    Reason = "connect"
	ReasonClosed     Reason = "connection-closed"
	ReasonAuth       Reason = "auth"
	ReasonReadOnly   Reason = "read-only"
	ReasonLoading    Reason = "loading"
	ReasonOOM        Reason = "out-of-memory"
	ReasonMoved      Reason = "cluster-moved"
	ReasonDown       Reason = "cluster-down"
	ReasonReplicas   Reason = "no-replicas"
	ReasonMasterDown Reason = "master-down"
	ReasonClients    Reason = "too-many-clients"
	ReasonDisk       Reason = "disk"
	ReasonOther      Reason = "other"
)

var sentences = map[Reason]string{
	ReasonTimeout:    "it didn't answer in time",
	ReasonConnect:    "no connection could be made",
	ReasonClosed:     "the connection was cut",
	ReasonAuth:       "it refuses the user or password of the URL, or what that user may do",
	ReasonReadOnly:   "it is a read-only replica: name the primary, or use Sentinel or a cluster",
	ReasonLoading:    "it is still loading its data",
	ReasonOOM:        "its memory is full: raise maxmemory",
	ReasonMoved:      "it is a node of a cluster: name it with redis+cluster://",
	ReasonDown:       "its cluster is down",
	ReasonReplicas:   "it has fewer replicas than min-replicas-to-write wants",
	ReasonMasterDown: "its primary is down",
	ReasonClients:    "it has too many clients: raise maxclients",
	ReasonDisk:       "it can't write its snapshots and so takes no writes: look at its disk",
	ReasonOther:      "it answers with an error",
}

// Reasons lists all reasons.
func Reasons() []Reason {
	return []Reason{
		ReasonTimeout, ReasonConnect, ReasonClosed, ReasonAuth, ReasonReadOnly, ReasonLoading, ReasonOOM,
		ReasonMoved, ReasonDown, ReasonReplicas, ReasonMasterDown, ReasonClients, ReasonDisk, ReasonOther,
	}
}

// Sentence says it for people, and what to do about it where something can be.
func (r Reason) Sentence() string { return sentences[r] }

// stated reports that the server itself said that it can't serve: no other call
// would fare better.
func (r Reason) stated() bool {
	switch r {
	case ReasonTimeout, ReasonConnect, ReasonClosed, ReasonOther:
		return false
	}
	return true
}

var answers = []struct {
	prefix string
	reason Reason
}{
	{"NOAUTH", ReasonAuth},
	{"WRONGPASS", ReasonAuth},
	{"NOPERM", ReasonAuth},
	{"ERR invalid password", ReasonAuth},
	{"READONLY", ReasonReadOnly},
	{"LOADING", ReasonLoading},
	{"OOM", ReasonOOM},
	{"MOVED", ReasonMoved},
	{"ASK", ReasonMoved},
	{"CROSSSLOT", ReasonMoved},
	{"CLUSTERDOWN", ReasonDown},
	{"TRYAGAIN", ReasonDown},
	{"NOREPLICAS", ReasonReplicas},
	{"MASTERDOWN", ReasonMasterDown},
	{"ERR max number of clients", ReasonClients},
	{"max number of clients", ReasonClients},
	{"MISCONF", ReasonDisk},
}

// reasonOf classifies an error of the client.
func reasonOf(err error) Reason {
	var own errServer
	if errors.As(err, &own) {
		return own.reason
	}
	for _, a := range answers {
		if redis.HasErrorPrefix(err, a.prefix) {
			return a.reason
		}
	}
	var dial *net.OpError
	var resolve *net.DNSError
	var network net.Error
	switch {
	case errors.As(err, &dial) && dial.Op == "dial", errors.As(err, &resolve),
		errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOENT):
		return ReasonConnect
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled),
		errors.Is(err, redis.ErrPoolTimeout), errors.As(err, &network) && network.Timeout():
		return ReasonTimeout
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &dial),
		errors.Is(err, net.ErrClosed), errors.Is(err, redis.ErrClosed):
		return ReasonClosed
	default:
		return ReasonOther
	}
}

// bare replaces an error by its reason: a client's error may hold an address or
// a value.
func bare(err error) error {
	if err == nil {
		return nil
	}
	return errServer{reasonOf(err)}
}
