-- +goose Up
create table channel (
    org     text not null,
    channel text not null,
    at      integer not null, -- microseconds since 1970
    primary key (org, channel)
) without rowid;

create table message (
    seq     integer primary key,
    id      text not null unique,
    org     text not null,
    channel text not null,
    thread  text not null default '', -- the root's id, empty at the top level
    kind    text not null check (kind in ('bot', 'person')),
    author  text not null,
    text    text not null,            -- empty once retracted
    marker  text not null,            -- of the last write
    at      integer not null,
    edits   integer not null default 0,
    deleted integer not null default 0,
    foreign key (org, channel) references channel (org, channel)
);
create index message_page on message (org, channel, thread, seq);

-- What bots asked for, whether or not anything came of it.
create table received (
    n       integer primary key,
    at      integer not null,
    marker  text not null,
    verb    text not null,
    org     text not null,
    channel text not null,
    target  text not null
);

-- What happened, in order; rev is also the id of a page event.
create table effect (
    rev     integer primary key,
    at      integer not null,
    marker  text not null,
    verb    text not null,
    kind    text not null,
    org     text not null,
    channel text not null,
    message text not null references message (id),
    text    text not null
);
create index effect_marker on effect (marker);
create index effect_feed on effect (org, channel, rev);
