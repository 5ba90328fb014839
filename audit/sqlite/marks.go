package sqlite

import (
	"database/sql"

	"stet/gateway/turn"
)

// unresolved holds a turn to what is pending of it: an ambiguous write that
// nothing has overwritten, or one whose deadline passed without an outcome.
const unresolved = `exists (select 1 from pending p where p.turn = t.id and p.overwritten = 0
	and (p.state = 'ambiguous' or p.deadline_at <= ?))`

const (
	sqlTurnState = `select t.expires_at, t.closed_at, t.answered, t.declined, t.partial, ` + unresolved + `
		from turn t where t.id = ? and t.org = ?`
	sqlMark = `update turn set answered = case when ? = 1 then 1 else answered end,
		partial = case when ? = 1 then 1 else partial end,
		may_end = case when ? = 1 then 1 else may_end end where id = ?`
)

// turnState is what the opening commit has to know of a turn.
type turnState struct {
	open, answered, declined, partial, ambiguous bool
}

func (u *unit) turnState(t turn.Turn) (st turnState, found bool, err error) {
	var expires, closed sql.NullInt64
	found, err = one(u.row(sqlTurnState, u.now.UnixMicro(), t.ID, t.Org),
		&expires, &closed, &st.answered, &st.declined, &st.partial, &st.ambiguous)
	st.open = turn.Turn{ExpiresAt: fromMicros(expires), ClosedAt: fromMicros(closed)}.Open(u.now)
	return st, found, err
}

// marks are set and never unset.
type marks struct {
	answered, partial, mayEnd bool
}

func (u *unit) mark(turn string, m marks) error {
	if m == (marks{}) {
		return nil
	}
	_, err := u.exec(sqlMark, flag(m.answered), flag(m.partial), flag(m.mayEnd), turn)
	return err
}
