-- +goose Up

-- The trail. Rows are added and never changed; times are microseconds since
-- 1970 by the store's clock.
create table audit_row (
    id        text    not null primary key,
    at        bigint  not null,
    org       text    not null,
    platform  text    not null,
    workspace text    not null,
    surface   text    not null,
    principal text    not null,
    session   text    not null,
    turn      text    not null,
    wake      text    not null,
    attempt   text,
    kind      text    not null check (kind in ('outcome', 'note')),
    action    text    not null,
    outcome   text    not null,
    reason    text    not null,
    failure   text    not null,
    status    integer not null,
    code      text    not null,
    dry_run   integer not null check (dry_run in (0, 1)),
    detail    text    not null
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
    id                 text    not null primary key,
    verb               text    not null,
    org                text    not null,
    surfaced           text    not null,
    workspace          text    not null,
    surface            text    not null,
    principal          text    not null,
    session            text    not null,
    turn               text    not null,
    wake               text    not null,
    creator            text    not null,
    dry_run            integer not null check (dry_run in (0, 1)),
    route              text    not null,
    approval           text    not null,
    place_platform     text    not null,
    place_workspace    text    not null,
    place_channel      text    not null,
    place_thread       text    not null,
    place_service_url  text    not null,
    place_organization text    not null,
    target             text    not null,
    reply              text    not null,
    marker             text    not null,
    digest             blob,
    chars              integer not null,
    seq                bigint  not null,
    boot               text    not null,
    opened_at          bigint  not null,
    deadline_at        bigint  not null
);

-- +goose StatementBegin
create trigger audit_row_no_update before update on audit_row
begin select raise(abort, 'audit_row is append-only'); end;
-- +goose StatementEnd
-- +goose StatementBegin
create trigger audit_row_no_delete before delete on audit_row
begin select raise(abort, 'audit_row is append-only'); end;
-- +goose StatementEnd
-- +goose StatementBegin
create trigger attempt_no_update before update on attempt
begin select raise(abort, 'attempt is append-only'); end;
-- +goose StatementEnd
-- +goose StatementBegin
create trigger attempt_no_delete before delete on attempt
begin select raise(abort, 'attempt is append-only'); end;
-- +goose StatementEnd
