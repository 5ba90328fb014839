-- +goose Up

-- What the statements of a batch do seldom. Each changes rows that its caller
-- has locked, and answers nothing.

-- +goose StatementBegin
-- Ends a transaction in which another replica was first to take a claim, so that
-- it is tried again and finds the other's.
create function lost_claim() returns integer language plpgsql as $$
begin
    raise exception 'another replica took the claim' using errcode = 'serialization_failure';
end $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Puts a write into its message's queue, or leaves it there: it counts as
-- waiting from its first call on.
create function join_queue(
    p_attempt text, p_verb text, p_org text, p_platform text, p_workspace text, p_channel text, p_reply text,
    p_seq bigint, p_until bigint, p_principal text, p_key text, p_hash bytea
) returns integer language plpgsql as $$
begin
    insert into edit_waiter (attempt, verb, org, platform, workspace, channel, reply, seq, wait_until,
        principal, claim_key, claim_hash)
    values (p_attempt, p_verb, p_org, p_platform, p_workspace, p_channel, p_reply, p_seq, p_until,
        p_principal, p_key, p_hash)
    on conflict (attempt) do nothing;
    return null;
end $$;
-- +goose StatementEnd

-- +goose StatementBegin
create function leave_queue(p_attempt text) returns integer language plpgsql as $$
begin
    delete from edit_waiter w where w.attempt = p_attempt;
    return null;
end $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Writes the row of an edit that the message shows already.
create function end_unchanged(p_attempt text, p_turn text, p_row json, p_now bigint)
returns integer language plpgsql as $$
begin
    insert into audit_row (id, at, org, platform, workspace, surface, principal, session, turn, wake, attempt,
        kind, action, outcome, reason, failure, status, code, dry_run, detail)
    select r.id, p_now, r.org, r.platform, r.workspace, r.surface, r.principal, r.session, r.turn, r.wake,
        p_attempt, 'outcome', r.action, r.outcome, r.reason, r.failure, r.status, r.code, r.dry_run, r.detail
    from json_populate_record(null::audit_row, p_row) r;
    update turn t set may_end = true where t.id = p_turn and not t.may_end;
    return null;
end $$;
-- +goose StatementEnd

-- +goose StatementBegin
create function add_notes(p_attempt text, p_notes json, p_now bigint) returns integer language plpgsql as $$
begin
    insert into audit_row (id, at, org, platform, workspace, surface, principal, session, turn, wake, attempt,
        kind, action, outcome, reason, failure, status, code, dry_run, detail)
    select r.id, p_now, r.org, r.platform, r.workspace, r.surface, r.principal, r.session, r.turn, r.wake,
        p_attempt, 'note', r.action, r.outcome, r.reason, r.failure, r.status, r.code, r.dry_run, r.detail
    from json_populate_recordset(null::audit_row, p_notes) r
    on conflict do nothing;
    return null;
end $$;
-- +goose StatementEnd

-- +goose StatementBegin
create function release_claim(p_attempt text) returns integer language plpgsql as $$
begin
    delete from idempotency c where c.attempt = p_attempt;
    return null;
end $$;
-- +goose StatementEnd

-- +goose StatementBegin
create function mark_turn(p_turn text, p_answered boolean, p_may_end boolean, p_partial boolean)
returns integer language plpgsql as $$
begin
    update turn t set answered = t.answered or p_answered, may_end = t.may_end or p_may_end,
        partial = t.partial or p_partial
    where t.id = p_turn;
    return null;
end $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Closes the parts of an attempt's message beside the first.
create function close_further_parts(p_attempt text, p_now bigint) returns integer language plpgsql as $$
declare
    a attempt;
begin
    select * into a from attempt k where k.id = p_attempt;
    update own_post e set closed_at = p_now
    where e.org = a.org and e.reply = a.reply and e.reply <> e.message_id and e.closed_at is null
        and e.channel = a.place_channel and e.workspace = a.place_workspace and e.platform = a.place_platform;
    return null;
end $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Notes that a write to the message was applied after others, so that no look can
-- tell what became of those. An edit can be overtaken by a later edit only; a
-- message that was retracted shows nothing of any other write. With p_all it may
-- have landed after any of them, whatever their numbers.
create function overwrite_others(p_attempt text, p_all boolean default false) returns integer language plpgsql as $$
begin
    update pending p set overwritten = true
    from attempt a
    where a.id = p_attempt and p.org = a.org and p.reply = a.reply and p.reply <> ''
        and p.platform = a.place_platform and p.workspace = a.place_workspace and p.channel = a.place_channel
        and p.attempt <> a.id and not p.dry_run and not p.overwritten
        and (p_all or a.verb = 'retract' or p.seq < a.seq);
    return null;
end $$;
-- +goose StatementEnd

-- +goose StatementBegin
create function look_later(p_attempt text, p_next bigint) returns integer language plpgsql as $$
begin
    update pending p set state = 'ambiguous', next_look = p_next where p.attempt = p_attempt;
    return null;
end $$;
-- +goose StatementEnd
