-- Writes attempts that end before they were opened, each with its outcome, and
-- gives up their places in the queues of their messages. Says of each whether
-- it was new.
with item as materialized (
    select i.*, coalesce($1::bigint, (extract(epoch from clock_timestamp()) * 1000000)::bigint) as now
    from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
            $10::text[], $11::text[], $12::text[], $13::boolean[], $14::text[], $15::text[], $16::text[],
            $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::text[],
            $24::bytea[], $25::int[], $26::text[], $27::bigint[],
            $28::text[], $29::text[], $30::text[], $31::text[], $32::text[], $33::text[], $34::text[], $35::text[],
            $36::text[], $37::text[], $38::text[], $39::text[], $40::text[], $41::int[], $42::text[],
            $43::boolean[], $44::json[])
        with ordinality as i (id, verb, org, surfaced, workspace, surface, principal, session, turn, wake, creator,
            dry, route, approval, platform, place, channel, thread, service_url, organization, target, marker,
            digest, chars, boot, seq,
            r_id, r_org, r_platform, r_workspace, r_surface, r_principal, r_session, r_turn, r_wake, r_action,
            r_outcome, r_reason, r_failure, r_status, r_code, r_dry, r_detail, item)
),
verdict as materialized (
    select i.*, k.id is null as fresh
    from item i left join lateral (select k.id from attempt k where k.id = i.id limit 1) k on true
),
new_attempt as (
    insert into attempt (id, verb, org, surfaced, workspace, surface, principal, session, turn, wake, creator,
        dry_run, route, approval, place_platform, place_workspace, place_channel, place_thread,
        place_service_url, place_organization, target, reply, marker, digest, chars, seq, boot,
        opened_at, deadline_at)
    select v.id, v.verb, v.org, v.surfaced, v.workspace, v.surface, v.principal, v.session, v.turn, v.wake,
        v.creator, v.dry, v.route, v.approval, v.platform, v.place, v.channel, v.thread, v.service_url,
        v.organization, v.target, '', v.marker, v.digest, v.chars, v.seq, v.boot, v.now, v.now
    from verdict v where v.fresh
),
new_row as (
    insert into audit_row (id, at, org, platform, workspace, surface, principal, session, turn, wake, attempt,
        kind, action, outcome, reason, failure, status, code, dry_run, detail)
    select v.r_id, v.now, v.r_org, v.r_platform, v.r_workspace, v.r_surface, v.r_principal, v.r_session, v.r_turn,
        v.r_wake, v.id, 'outcome', v.r_action, v.r_outcome, v.r_reason, v.r_failure, v.r_status, v.r_code, v.r_dry,
        v.r_detail
    from verdict v where v.fresh
),
old_waiter as (
    delete from edit_waiter w where w.attempt in (select v.id from verdict v where v.fresh and v.seq > 0)
)
select v.fresh, v.now from verdict v order by v.item
