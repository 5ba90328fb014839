-- +goose Up

create table session (
    org             text collate "C" not null,
    id              text collate "C" not null,
    workspace       text collate "C" not null,
    surface         text collate "C" not null,
    principal       text collate "C" not null,
    platform        text collate "C" not null,
    place_workspace text collate "C" not null,
    channel         text collate "C" not null,
    thread          text collate "C" not null,
    service_url     text collate "C" not null,
    organization    text collate "C" not null,
    bound_at        bigint not null,
    primary key (org, id)
);
create index session_id on session (id);

create table turn (
    id              text collate "C" not null primary key,
    token_id        text collate "C" not null unique,
    token_hash      bytea   not null,
    org             text collate "C" not null,
    session         text collate "C" not null,
    workspace       text collate "C" not null,
    surface         text collate "C" not null,
    principal       text collate "C" not null,
    creator         text collate "C" not null,
    wake            text collate "C" not null,
    refs            bytea   not null,
    platform        text collate "C" not null,
    place_workspace text collate "C" not null,
    channel         text collate "C" not null,
    thread          text collate "C" not null,
    service_url     text collate "C" not null,
    organization    text collate "C" not null,
    route           text collate "C" not null,
    bound           text collate "C" not null,
    dry_run         boolean not null,
    opened_at       bigint  not null,
    expires_at      bigint  not null,
    closed_at       bigint,
    answered        boolean not null default false,
    declined        boolean not null default false,
    partial         boolean not null default false,
    may_end         boolean not null default false
) with (fillfactor = 80);
create index turn_expiry on turn (expires_at);

-- Events that the host saw. An event that outlives its turn has expires_at.
create table evidence (
    id         text collate "C" not null primary key,
    org        text collate "C" not null,
    session    text collate "C" not null,
    turn       text collate "C" not null,
    kind       text collate "C" not null,
    ref        text collate "C" not null,
    subject    text collate "C" not null,
    at         bigint not null,
    expires_at bigint
);
create index evidence_turn on evidence (turn);
create index evidence_session on evidence (org, session) where expires_at is not null;
create index evidence_expiry on evidence (expires_at) where expires_at is not null;

-- Tool calls that the agent made elsewhere, in the order of their reports.
create table transcript (
    id       text collate "C" not null primary key,
    org      text collate "C" not null,
    session  text collate "C" not null,
    turn     text collate "C" not null,
    call_id  text collate "C" not null,
    name     text collate "C" not null,
    args     bytea,
    result   bytea,
    is_error boolean not null,
    at       bigint  not null
);
create index transcript_session on transcript (org, session, id);
create index transcript_at on transcript (at);

-- A report may be removed whole when its time is over, never changed.
create trigger transcript_is_not_changed before update on transcript
    for each statement execute function refuse_change();

create table activity (
    id      text collate "C" not null primary key,
    turn    text collate "C" not null,
    message text collate "C" not null,
    at      bigint not null
);
create index activity_turn on activity (turn);

create table api_key (
    id         text collate "C" not null primary key,
    org        text collate "C" not null,
    scopes     text collate "C" not null,
    name       text collate "C" not null,
    hash       bytea  not null,
    created_at bigint not null,
    revoked_at bigint
);
