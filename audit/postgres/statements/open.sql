-- Opens attempts, ends them as unchanged, lets them wait, or says why not. A
-- refusal writes nothing here: its row is not made yet. Turns and messages are
-- locked by now. No two items have the same attempt, claim or target; edits is
-- how many of them are about a message that is there.
--
-- What seldom happens is left to functions, so that what always happens starts
-- fast.
with item as materialized (
    select i.item as nr, h.tid as head_tid, i.*,
        coalesce($1::bigint, (extract(epoch from clock_timestamp()) * 1000000)::bigint) as now,
        h.reply, h.part, h.e_thread, h.e_service_url, h.e_organization, h.e_session, h.e_dry, h.posted_at,
        h.editable_until, h.closed_at, h.opened_seq, h.confirmed_digest,
        case when i.seq > 0 or i.dry or i.verb = 'reply' then i.seq else h.last_seq + 1 end as number
    from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
            $10::text[], $11::text[], $12::text[], $13::boolean[], $14::text[], $15::text[], $16::text[],
            $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::text[],
            $24::bytea[], $25::int[], $26::text[], $27::bigint[], $28::bigint[], $29::bigint[], $30::text[],
            $31::bytea[], $32::bigint[], $33::bytea[], $34::json[])
        with ordinality as i (id, verb, org, surfaced, workspace, surface, principal, session, turn, wake, creator,
            dry, route, approval, platform, place, channel, thread, service_url, organization, target, marker,
            digest, chars, boot, seq, life, wait, key, hash, keep, answer, unchanged, item)
    left join lateral (
        select e.reply, e.part, e.thread as e_thread, e.service_url as e_service_url,
            e.organization as e_organization, e.session as e_session, e.dry_run as e_dry, e.posted_at,
            e.editable_until, e.closed_at, m.ctid as tid, m.last_seq, m.opened_seq, m.confirmed_digest
        from own_post e, own_post m
        where i.verb <> 'reply' and e.org = i.org and e.message_id = i.target and e.channel = i.channel
            and e.workspace = i.place and e.platform = i.platform
            and m.org = e.org and m.message_id = e.reply and m.channel = e.channel
            and m.workspace = e.workspace and m.platform = e.platform
        limit 1) h on true
),
-- The first answer counts: a state, or outcome, reason and code of a refusal.
verdict as materialized (
    select i.*, coalesce(
        -- A claim that has a first use, or that a write which waits holds.
        case when i.key is not null then (
            select case
                when c.attempt = i.id then 'known'
                when c.claim_hash <> i.hash then 'mismatch'
                when (select r.id from audit_row r where r.attempt = c.attempt and r.kind = 'outcome') is not null
                    then 'replayed'
                when i.now >= (select k.deadline_at from attempt k where k.id = c.attempt) then 'abandoned'
                else 'in-progress' end
            from idempotency c where c.org = i.org and c.principal = i.principal and c.verb = i.verb
                and c.claim_key = i.key and c.keep_until > i.now) end,
        case when i.key is not null and i.verb <> 'reply' then (
            select case when w.claim_hash = i.hash then 'in-progress' else 'mismatch' end
            from edit_waiter w where w.org = i.org and w.principal = i.principal and w.verb = i.verb
                and w.claim_key = i.key and w.wait_until > i.now and w.attempt <> i.id limit 1) end,
        -- The turn's token, and whether a reply still has a place in it.
        nullif(coalesce((
            select case
                when t.closed_at is not null or i.now >= t.expires_at then 'refused unauthorized'
                when i.verb <> 'reply' then 'goes on'
                when t.declined then 'refused turn-declined'
                when t.answered then 'refused turn-answered'
                when (select true from pending p where p.turn = t.id and p.state = 'ambiguous'
                        and not p.overwritten limit 1)
                    or (select true from pending p where p.turn = t.id and p.deadline_at <= i.now
                        and not p.overwritten limit 1) then 'refused turn-ambiguous'
                when t.partial then 'refused turn-partial'
                else 'goes on' end
            from turn t where t.id = i.turn and t.org = i.org), 'refused unauthorized'), 'goes on'),
        case
            when i.verb = 'reply' then 'opened'
            -- The ledger's decision, as the early look made it.
            when i.reply is null or (i.e_dry and not (i.dry and i.e_session = i.session)) then case
                when (select true from own_post o where o.org = i.org and o.message_id = i.target
                        and (o.platform, o.workspace, o.channel) <> (i.platform, i.place, i.channel)
                        and (not o.dry_run or (i.dry and o.session = i.session)) limit 1)
                    then 'refused not-own-post other-place'
                else 'refused not-own-post unknown' end
            -- A write that waited and finds its message retracted was overtaken.
            when i.closed_at is not null and i.seq > 0 and not i.e_dry then 'not_sent superseded'
            when i.closed_at is not null then 'refused not-own-post unknown'
            when i.now >= i.editable_until then 'refused not-own-post window-closed'
            when $35::int > 1 and i.nr > (select min(o.nr) from item o where o.head_tid = i.head_tid) then 'again'
            -- Dry runs change nothing, so they have no order to keep. A retract
            -- is overtaken by an applied retract alone.
            when not i.dry and i.verb = 'edit' and (i.opened_seq > i.number
                or (select true from edit_waiter w where w.org = i.org and w.reply = i.reply
                    and w.platform = i.platform and w.workspace = i.place and w.channel = i.channel
                    and w.verb = 'edit' and w.seq > i.number and w.wait_until > i.now and w.attempt <> i.id limit 1))
                then 'not_sent superseded'
            when not i.dry and (
                (select true from pending p where p.org = i.org and p.reply = i.reply and p.reply <> ''
                    and p.platform = i.platform and p.workspace = i.place and p.channel = i.channel
                    and p.state = 'open' and not p.dry_run and p.deadline_at > i.now and p.attempt <> i.id limit 1)
                or (i.verb = 'edit' and (select true from edit_waiter w where w.org = i.org and w.reply = i.reply
                    and w.platform = i.platform and w.workspace = i.place and w.channel = i.channel
                    and w.verb = 'retract' and w.wait_until > i.now and w.attempt <> i.id limit 1)))
                then 'wait'
            -- The text that the message shows already, with no write to it that
            -- is open or unresolved: an earlier one that nothing is known of may
            -- still surface.
            when i.verb = 'edit' and i.unchanged is not null and length(i.digest) > 0
                and i.confirmed_digest = i.digest
                and (select true from pending p where p.org = i.org and p.reply = i.reply and p.reply <> ''
                    and p.platform = i.platform and p.workspace = i.place and p.channel = i.channel
                    and not p.dry_run limit 1) is null then 'unchanged'
            else 'opened' end) as state
    from item i
),
-- An edit or retract goes where the ledger says that the message is.
new_attempt as (
    insert into attempt (id, verb, org, surfaced, workspace, surface, principal, session, turn, wake, creator,
        dry_run, route, approval, place_platform, place_workspace, place_channel, place_thread,
        place_service_url, place_organization, target, reply, marker, digest, chars, seq, boot,
        opened_at, deadline_at)
    select v.id, v.verb, v.org, v.surfaced, v.workspace, v.surface, v.principal, v.session, v.turn, v.wake,
        v.creator, v.dry, v.route, v.approval, v.platform, v.place, v.channel, coalesce(v.e_thread, v.thread),
        coalesce(v.e_service_url, v.service_url), coalesce(v.e_organization, v.organization), v.target,
        coalesce(v.reply, ''), v.marker, v.digest, v.chars, v.number, v.boot, v.now,
        case v.state when 'opened' then v.now + v.life else v.now end
    from verdict v where v.state in ('opened', 'unchanged')
),
new_pending as (
    insert into pending (attempt, state, verb, turn, org, platform, workspace, channel, reply, seq, dry_run,
        boot, opened_at, deadline_at)
    select v.id, 'open', v.verb, v.turn, v.org, v.platform, v.place, v.channel, coalesce(v.reply, ''), v.number,
        v.dry, v.boot, v.now, v.now + v.life
    from verdict v where v.state = 'opened'
),
new_claim as (
    insert into idempotency (org, principal, verb, claim_key, claim_hash, attempt, answer, made_at, keep_until)
    select v.org, v.principal, v.verb, v.key, v.hash, v.id, case v.state when 'unchanged' then v.answer end,
        v.now, v.now + v.keep
    from verdict v where v.key is not null and v.state in ('opened', 'unchanged')
    order by v.org, v.principal, v.verb, v.key -- two replicas don't take the same claims crosswise
    on conflict (org, principal, verb, claim_key) do update set claim_hash = excluded.claim_hash,
        attempt = excluded.attempt, answer = excluded.answer, made_at = excluded.made_at,
        keep_until = excluded.keep_until
    where idempotency.keep_until <= excluded.made_at
    returning attempt
),
-- Only edits note that they opened: a retract that fails must not have
-- overtaken the edits before it, and one that is applied closes the message.
numbered as (
    update own_post h set last_seq = greatest(h.last_seq, v.number),
        opened_seq = case when v.verb = 'edit' and v.state <> 'wait' then greatest(h.opened_seq, v.number)
            else h.opened_seq end,
        confirmed_seq = case v.state when 'unchanged' then greatest(h.confirmed_seq, v.number)
            else h.confirmed_seq end
    from verdict v
    where h.ctid = v.head_tid and not v.dry and v.state in ('opened', 'unchanged', 'wait')
)
select v.state, v.number, v.now, v.reply, v.part, v.e_thread, v.e_service_url, v.e_organization, v.e_session,
    v.e_dry, v.posted_at, v.editable_until,
    case
        when v.state = 'wait' then join_queue(v.id, v.verb, v.org, v.platform, v.place, v.channel, v.reply, v.number,
            v.now + v.wait, v.principal, v.key, v.hash)
        when v.state = 'unchanged' then end_unchanged(v.id, v.turn, v.unchanged, v.now) end,
    case when v.seq > 0 and v.state in ('opened', 'unchanged') then leave_queue(v.id) end,
    case when (select count(*) from new_claim) < (select count(*) from verdict b
        where b.key is not null and b.state in ('opened', 'unchanged')) then lost_claim() end
from verdict v
order by v.nr
