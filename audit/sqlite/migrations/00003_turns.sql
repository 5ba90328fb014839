-- +goose Up

create table session (
    org          text   not null,
    id           text   not null,
    workspace    text   not null,
    surface      text   not null,
    principal    text   not null,
    platform     text   not null,
    place_workspace text not null,
    channel      text   not null,
    thread       text   not null,
    service_url  text   not null,
    organization text   not null,
    bound_at     bigint not null,
    primary key (org, id)
);
create index session_id on session (id);

create table turn (
    id              text    not null primary key,
    token_id        text    not null unique,
    token_hash      blob    not null,
    org             text    not null,
    session         text    not null,
    workspace       text    not null,
    surface         text    not null,
    principal       text    not null,
    creator         text    not null,
    wake            text    not null,
    refs            text    not null,
    platform        text    not null,
    place_workspace text    not null,
    channel         text    not null,
    thread          text    not null,
    service_url     text    not null,
    organization    text    not null,
    route           text    not null,
    bound           text    not null,
    dry_run         integer not null check (dry_run in (0, 1)),
    opened_at       bigint  not null,
    expires_at      bigint  not null,
    closed_at       bigint,
    answered        integer not null default 0 check (answered in (0, 1)),
    declined        integer not null default 0 check (declined in (0, 1)),
    partial         integer not null default 0 check (partial in (0, 1)),
    may_end         integer not null default 0 check (may_end in (0, 1))
);
create index turn_expiry on turn (expires_at);

-- Events that the host saw. An event that outlives its turn has expires_at.
create table evidence (
    id         text   not null primary key,
    org        text   not null,
    session    text   not null,
    turn       text   not null,
    kind       text   not null,
    ref        text   not null,
    subject    text   not null,
    at         bigint not null,
    expires_at bigint
);
create index evidence_turn on evidence (turn);
create index evidence_session on evidence (org, session) where expires_at is not null;
create index evidence_expiry on evidence (expires_at) where expires_at is not null;

-- Tool calls that the agent made elsewhere, in the order of their reports.
create table transcript (
    id       text    not null primary key,
    org      text    not null,
    session  text    not null,
    turn     text    not null,
    call_id  text    not null,
    name     text    not null,
    args     blob,
    result   blob,
    is_error integer not null check (is_error in (0, 1)),
    at       bigint  not null
);
create index transcript_session on transcript (org, session, id);
create index transcript_at on transcript (at);

-- A report may be removed whole when its time is over, never changed.
-- +goose StatementBegin
create trigger transcript_no_update before update on transcript
begin select raise(abort, 'transcript is append-only'); end;
-- +goose StatementEnd

create table activity (
    id      text   not null primary key,
    turn    text   not null,
    message text   not null,
    at      bigint not null
);
create index activity_turn on activity (turn);

create table api_key (
    id         text   not null primary key,
    org        text   not null,
    scopes     text   not null,
    name       text   not null,
    hash       blob   not null,
    created_at bigint not null,
    revoked_at bigint
);
