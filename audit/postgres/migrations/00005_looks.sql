-- +goose Up

-- +goose StatementBegin
-- What a look changes of the message of an edit or retract. p_how is empty for a
-- look that saw nothing, look for one that did, look-doubt where the text stays
-- unknown, and look-forget where it surfaced over what was confirmed later.
create function land(p_attempt text, p_how text, p_digest bytea, p_close boolean, p_now bigint)
returns void language plpgsql volatile as $$
declare
    a record;
begin
    select k.org, k.reply, k.place_channel as channel, k.place_workspace as workspace,
        k.place_platform as platform, k.verb, k.seq, k.dry_run, h.dry_run as head_dry
    into a
    from attempt k
    left join lateral (select * from own_post h where h.org = k.org and h.message_id = k.reply
        and h.channel = k.place_channel and h.workspace = k.place_workspace
        and h.platform = k.place_platform limit 1) h on true
    where k.id = p_attempt;
    if a.reply = '' or (a.dry_run and not coalesce(a.head_dry, false)) then
        return; -- a dry run leaves real messages alone
    end if;

    -- What the message shows now, unless a later write's text is noted already.
    if p_digest is not null then
        update own_post h set confirmed_digest = p_digest, confirmed_seq = a.seq
        where h.org = a.org and h.message_id = a.reply and h.channel = a.channel and h.workspace = a.workspace
            and h.platform = a.platform and h.confirmed_seq <= a.seq;
    end if;
    if p_close then
        update own_post e set closed_at = p_now
        where e.org = a.org and e.message_id = a.reply and e.channel = a.channel and e.workspace = a.workspace
            and e.platform = a.platform and e.closed_at is null;
        perform close_further_parts(p_attempt, p_now);
    end if;
    if a.dry_run then
        return;
    end if;
    if p_how like 'look%' then
        -- Whatever else is in doubt may be covered by this one now.
        perform overwrite_others(p_attempt, true);
    end if;
    if p_how = 'look-doubt' then
        -- It may have changed the text after that was confirmed, and nobody will
        -- find out: what the message shows is forgotten.
        update own_post h set confirmed_digest = null
        where h.org = a.org and h.message_id = a.reply and h.channel = a.channel and h.workspace = a.workspace
            and h.platform = a.platform and (a.verb = 'retract' or h.confirmed_seq < a.seq);
    elsif p_how = 'look-forget' then
        update own_post h set confirmed_digest = null
        where h.org = a.org and h.message_id = a.reply and h.channel = a.channel and h.workspace = a.workspace
            and h.platform = a.platform;
    end if;
end $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Ends open attempts whose owner left no outcome, with rows of the given ids,
-- and answers the rows. An attempt that has an outcome by now is left out.
create function interrupt_attempts(p_now bigint, p_attempts text[], p_rows text[])
returns setof audit_row language plpgsql volatile as $$
declare
    v_now bigint;
    v_ended text[];
begin
    perform 1 from (select distinct a.turn from attempt a where a.id = any (p_attempts) order by a.turn) i,
        lateral (select 1 from turn t where t.id = i.turn for no key update) t;
    perform 1 from (select i.id from unnest(p_attempts) as i (id) order by i.id) i,
        lateral (select 1 from pending p where p.attempt = i.id for update) p;
    v_now := coalesce(p_now, (extract(epoch from clock_timestamp()) * 1000000)::bigint);
    select coalesce(array_agg(p.attempt), '{}') into v_ended
    from pending p where p.attempt = any (p_attempts) and p.state = 'open';

    return query
    insert into audit_row (id, at, org, platform, workspace, surface, principal, session, turn, wake, attempt,
        kind, action, outcome, reason, failure, status, code, dry_run, detail)
    select i.row, v_now, a.org, a.surfaced, a.workspace, a.surface, a.principal, a.session, a.turn, a.wake, a.id,
        'outcome',
        case a.verb when 'reply' then 'reply.post' else 'reply.' || a.verb end || '.refused',
        'ambiguous', 'interrupted', 'ambiguous', 0, '', a.dry_run,
        -- The target of an opened attempt was vouched for.
        json_strip_nulls(json_build_object('id', case when a.verb <> 'reply' then nullif(a.target, '') end,
            'route', nullif(a.route, ''), 'approval', nullif(a.approval, '')))
    from unnest(p_attempts, p_rows) as i (attempt, row)
    join attempt a on a.id = i.attempt
    where i.attempt = any (v_ended)
    returning *;

    update turn t set may_end = true
    where not t.may_end and t.id in (select a.turn from attempt a where a.id = any (v_ended));
    -- Of a dry run nothing could have reached a platform: there is nothing to look for.
    delete from pending p where p.attempt = any (v_ended) and p.dry_run;
    update pending p set state = 'ambiguous', next_look = v_now where p.attempt = any (v_ended);
end $$;
-- +goose StatementEnd
