-- Writes outcomes with all that they change. A late item comes after a
-- sweeper's outcome: its row is a note, the rest of it counts. Says of each item
-- settled, missing (there is no such attempt), same (its row is there), late
-- (another outcome is there, and nothing was written) or again. Turns, messages
-- and pending attempts are locked by now. No two items have the same attempt;
-- edits is how many of them are about a message that is there.
--
-- What seldom happens is left to functions, so that what always happens starts
-- fast.
with item as materialized (
    select i.item as nr, h.tid as head_tid, i.*,
        coalesce($1::bigint, (extract(epoch from clock_timestamp()) * 1000000)::bigint) as now,
        a.turn, a.verb, a.reply, a.seq, a.dry_run, a.session, h.editable_until,
        -- A dry run leaves real messages alone.
        h.tid is not null and (h.dry_run or not a.dry_run) as lands
    from unnest($2::text[], $3::boolean[], $4::text[], $5::bytea[], $6::boolean[], $7::boolean[], $8::bytea[],
            $9::boolean[], $10::boolean[], $11::bigint[], $12::bigint[],
            $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[],
            $21::text[], $22::text[], $23::text[], $24::text[], $25::text[], $26::int[], $27::text[],
            $28::boolean[], $29::json[], $30::json[], $31::json[])
        with ordinality as i (attempt, late, outcome, digest, close, release, answer, answered, may_end, next, time_left,
            r_id, r_org, r_platform, r_workspace, r_surface, r_principal, r_session, r_turn, r_wake, r_action,
            r_outcome, r_reason, r_failure, r_status, r_code, r_dry, r_detail, notes, posts, item)
    left join lateral (select a.turn, a.verb, a.reply, a.seq, a.dry_run, a.session, a.org, a.place_channel,
            a.place_workspace, a.place_platform
        from attempt a where a.id = i.attempt limit 1) a on true
    left join lateral (select h.ctid as tid, h.dry_run, h.editable_until from own_post h
        where a.reply <> '' and h.org = a.org and h.message_id = a.reply and h.channel = a.place_channel
            and h.workspace = a.place_workspace and h.platform = a.place_platform limit 1) h on true
),
verdict as materialized (
    select i.*, case
        when i.verb is null then 'missing'
        when i.late and (select r.id from audit_row r where r.id = i.r_id) is not null then 'same'
        else coalesce(
            (select case when r.id = i.r_id then 'same' when not i.late then 'late' end
                from audit_row r where r.attempt = i.attempt and r.kind = 'outcome'),
            case when $32::int > 1 and i.nr > (select min(o.nr) from item o where o.head_tid = i.head_tid)
                then 'again' else 'settled' end) end as state
    from item i
),
new_row as (
    insert into audit_row (id, at, org, platform, workspace, surface, principal, session, turn, wake, attempt,
        kind, action, outcome, reason, failure, status, code, dry_run, detail)
    select d.r_id, d.now, d.r_org, d.r_platform, d.r_workspace, d.r_surface, d.r_principal, d.r_session, d.r_turn,
        d.r_wake, d.attempt, case when d.late then 'note' else 'outcome' end, d.r_action, d.r_outcome, d.r_reason,
        d.r_failure, d.r_status, d.r_code, d.r_dry, d.r_detail
    from verdict d where d.state = 'settled'
),
-- A part that an edit added has no longer a life than its message.
new_post as (
    insert into own_post (org, platform, workspace, channel, message_id, reply, part, thread, service_url,
        organization, session, dry_run, posted_at, editable_until, confirmed_digest)
    select e.org, e.platform, e.workspace, e.channel, e.message_id,
        case d.reply when '' then e.reply else d.reply end, e.part, e.thread, e.service_url, e.organization,
        d.session, d.dry_run, d.now, case d.reply when '' then d.now + d.time_left else d.editable_until end,
        case when d.reply = '' and n.place = 1 then d.digest end
    from verdict d, lateral json_array_elements(d.posts) with ordinality as n (value, place),
        lateral json_populate_record(null::own_post, n.value) e
    where d.state = 'settled' and d.posts is not null and (d.reply = '' or d.lands)
    on conflict do nothing
),
answered as (
    update idempotency c set answer = d.answer
    from (select d.answer, (select k.ctid from idempotency k where k.attempt = d.attempt) as tid
        from verdict d where d.state = 'settled' and not d.release and d.answer is not null) d
    where c.ctid = d.tid
),
-- What the message shows now, unless a later write's text is noted already; and
-- after a part of an edit failed, that nobody knows what it shows.
head as (
    update own_post h set
        confirmed_digest = case
            when d.digest is not null and h.confirmed_seq <= d.seq then d.digest
            when d.digest is null and d.outcome = 'partial' and not d.dry_run
                and (d.verb = 'retract' or h.confirmed_seq < d.seq) then null
            else h.confirmed_digest end,
        confirmed_seq = case when d.digest is not null then greatest(h.confirmed_seq, d.seq) else h.confirmed_seq end,
        closed_at = case when d.close then coalesce(h.closed_at, d.now) else h.closed_at end
    from verdict d
    where h.ctid = d.head_tid and d.state = 'settled' and d.lands
        and (d.digest is not null or d.close or d.outcome = 'partial')
),
ended as (
    delete from pending p
    using (select (select k.ctid from pending k where k.attempt = d.attempt) as tid
        from verdict d where d.state = 'settled' and (d.outcome <> 'ambiguous' or d.dry_run)) d
    where p.ctid = d.tid
)
select d.state, d.now,
    case when d.state = 'settled' then case when d.notes is not null then add_notes(d.attempt, d.notes, d.now) end end,
    case when d.state = 'settled' and d.release then release_claim(d.attempt) end,
    -- Marks are set and never unset.
    case when d.state = 'settled' and (d.answered or d.may_end or d.outcome = 'partial')
        and (select (d.answered and not t.answered) or (d.may_end and not t.may_end)
                or (d.outcome = 'partial' and not t.partial) from turn t where t.id = d.turn)
        then mark_turn(d.turn, d.answered, d.may_end, d.outcome = 'partial' and d.verb = 'reply') end,
    case when d.state = 'settled' and d.close and d.lands then close_further_parts(d.attempt, d.now) end,
    -- A write that was applied after others: no look can tell what became of
    -- those.
    case when d.state = 'settled' and d.outcome = 'applied' and d.head_tid is not null and not d.dry_run
        then overwrite_others(d.attempt) end,
    case when d.state = 'settled' and d.outcome = 'ambiguous' and not d.dry_run
        then look_later(d.attempt, d.now + d.next) end
from verdict d
order by d.nr
