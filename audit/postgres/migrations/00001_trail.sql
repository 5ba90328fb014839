-- +goose Up

-- The trail. Rows are added and never changed; times are microseconds since
-- 1970 by the database's clock. Text is compared by its bytes: an order that
-- hangs on a library's locale can change under an index.
create table audit_row (
    id        text collate "C" not null primary key,
    at        bigint  not null,
    org       text collate "C" not null,
    platform  text collate "C" not null,
    workspace text collate "C" not null,
    surface   text collate "C" not null,
    principal text collate "C" not null,
    session   text collate "C" not null,
    turn      text collate "C" not null,
    wake      text collate "C" not null,
    attempt   text collate "C",
    kind      text collate "C" not null check (kind in ('outcome', 'note')),
    action    text collate "C" not null,
    outcome   text collate "C" not null,
    reason    text collate "C" not null,
    failure   text collate "C" not null,
    status    integer not null,
    code      text collate "C" not null,
    dry_run   boolean not null,
    detail    json    not null
);

-- The only arbiter between an attempt's owner and any number of sweepers.
create unique index audit_row_one_outcome on audit_row (attempt) where kind = 'outcome';
create index audit_row_notes on audit_row (attempt) where kind = 'note';
-- Pages and streams go by time; an organization sees its own rows only.
create index audit_row_at on audit_row (at);
create index audit_row_org on audit_row (org, at);
create index audit_row_session on audit_row (session, at);
create index audit_row_turn on audit_row (turn);
-- What people look for among many rows that simply went well.
create index audit_row_reason on audit_row (reason, at) where reason <> '';
create index audit_row_failure on audit_row (failure, at) where failure <> '';

-- What was attempted: enough to write the outcome of a process that died.
create table attempt (
    id                 text collate "C" not null primary key,
    verb               text collate "C" not null,
    org                text collate "C" not null,
    surfaced           text collate "C" not null,
    workspace          text collate "C" not null,
    surface            text collate "C" not null,
    principal          text collate "C" not null,
    session            text collate "C" not null,
    turn               text collate "C" not null,
    wake               text collate "C" not null,
    creator            text collate "C" not null,
    dry_run            boolean not null,
    route              text collate "C" not null,
    approval           text collate "C" not null,
    place_platform     text collate "C" not null,
    place_workspace    text collate "C" not null,
    place_channel      text collate "C" not null,
    place_thread       text collate "C" not null,
    place_service_url  text collate "C" not null,
    place_organization text collate "C" not null,
    target             text collate "C" not null,
    reply              text collate "C" not null,
    marker             text collate "C" not null,
    digest             bytea,
    chars              integer not null,
    seq                bigint  not null,
    boot               text collate "C" not null,
    opened_at          bigint  not null,
    deadline_at        bigint  not null
);

-- +goose StatementBegin
create function refuse_change() returns trigger language plpgsql as $$
begin
    raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;
-- +goose StatementEnd

create trigger audit_row_is_append_only before update or delete or truncate on audit_row
    for each statement execute function refuse_change();
create trigger attempt_is_append_only before update or delete or truncate on attempt
    for each statement execute function refuse_change();
