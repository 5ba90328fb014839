package room

import (
	"context"
	"database/sql"
	"net/url"
	"time"
)

// thread is a message of the top level with what hangs on it.
type thread struct {
	Root    message
	Replies []message
}

// view is what a page shows. Every effect above rev is still to come as an
// event; one below it is already in the view.
type view struct {
	rev     int64
	threads []thread
}

// pageSize is how many of the newest messages a page shows at first.
const pageSize = 300

func (r reader) view(ctx context.Context, org, channel string) (view, error) {
	var v view
	// The mark is read first: an effect in between is shown twice, not missed.
	var err error
	if v.rev, err = r.mark(ctx); err != nil {
		return view{}, err
	}
	rows, err := r.db.QueryContext(ctx, `
		with newest as (select * from message where org = ?1 and channel = ?2 order by seq desc limit ?3)
		select `+messageColumns+` from message where seq in (select seq from newest)
		or id in (select thread from newest) order by seq`, org, channel, pageSize)
	if err != nil {
		return view{}, err
	}
	all, err := messages(rows)
	if err != nil {
		return view{}, err
	}
	v.threads = hang(all)
	return v, nil
}

// mark is the number of the newest effect.
func (r reader) mark(ctx context.Context) (rev int64, err error) {
	err = r.db.QueryRowContext(ctx, `select coalesce(max(rev), 0) from effect`).Scan(&rev)
	return rev, err
}

// hang puts the replies under their roots; every root comes before its replies.
func hang(all []message) []thread {
	var threads []thread
	at := map[string]int{}
	for _, m := range all {
		if m.Thread == "" {
			at[m.ID] = len(threads)
			threads = append(threads, thread{Root: m})
			continue
		}
		i := at[m.Thread]
		threads[i].Replies = append(threads[i].Replies, m)
	}
	return threads
}

// channel is one line of the list of channels.
type channel struct {
	Name     string
	Messages int
}

// Path is the name as one segment of a URL's path.
func (c channel) Path() string { return url.PathEscape(c.Name) }

func (r reader) channels(ctx context.Context, org string) ([]channel, error) {
	rows, err := r.db.QueryContext(ctx, `select channel,
		(select count(*) from message m where m.org = c.org and m.channel = c.channel)
		from channel c where org = ? order by channel limit 1000`, org)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var all []channel
	for rows.Next() {
		var c channel
		if err := rows.Scan(&c.Name, &c.Messages); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, rows.Err()
}

// happening is one effect with the message as it is now.
type happening struct {
	rev     int64
	verb    string
	message message
}

// since reads what happened in a channel after a mark, oldest first.
func (r reader) since(ctx context.Context, org, channel string, rev int64) ([]happening, error) {
	rows, err := r.db.QueryContext(ctx, `
		select e.rev, e.verb, m.id, m.channel, m.thread, m.kind, m.author, m.text, m.at, m.edits > 0, m.deleted
		from effect e join message m on m.id = e.message
		where e.org = ? and e.channel = ? and e.rev > ? order by e.rev limit 500`, org, channel, rev)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var all []happening
	for rows.Next() {
		h, err := scanHappening(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	return all, rows.Err()
}

func scanHappening(rows *sql.Rows) (happening, error) {
	var h happening
	var at int64
	m := &h.message
	err := rows.Scan(&h.rev, &h.verb, &m.ID, &m.Channel, &m.Thread, &m.Kind, &m.Author, &m.Text, &at, &m.Edited, &m.Deleted)
	m.At = time.UnixMicro(at).UTC()
	return h, err
}
