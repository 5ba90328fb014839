package redisstore

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"stet/ledger"
)

// buckets is how many hash tags the keys are spread over. It is part of where
// keys are: to change it is to change prefix.
const buckets = 64

// prefix carries the version of keys and values; copies of another version are
// left to expire.
const prefix = "stet:l1:"

// tag is the hash tag of a bucket: all its keys are in one cluster slot.
func tag(bucket int) string { return fmt.Sprintf("%s{stet-%02x}:", prefix, bucket) }

// tags and epochKeys are by bucket.
var tags, epochKeys = func() (t, e [buckets]string) {
	for b := range buckets {
		t[b] = tag(b)
		e[b] = t[b] + "epoch"
	}
	return t, e
}()

// digest is over the key's parts, each with its length before it: no two keys
// write the same bytes.
func digest(k ledger.Key) [sha256.Size]byte {
	var room [256]byte
	buf := room[:0]
	for _, part := range [...]string{k.Org, string(k.Platform), k.Workspace, string(k.Channel), string(k.ID)} {
		buf = binary.AppendUvarint(buf, uint64(len(part)))
		buf = append(buf, part...)
	}
	return sha256.Sum256(buf)
}

// place is a message's key in Redis and the bucket that it is in.
func place(k ledger.Key) (key string, bucket int) {
	sum := digest(k)
	bucket = int(sum[0]) % buckets
	return tags[bucket] + base64.RawURLEncoding.EncodeToString(sum[1:25]), bucket
}
