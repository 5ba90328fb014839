-- +goose Up

-- Attempts that are open or ambiguous, and no others: what marks of turns, the
-- busy check of a message, the sweeper and the resolver read. reply names the
-- message by its first part and is empty for a new post.
create table pending (
    attempt     text collate "C" not null primary key,
    state       text collate "C" not null check (state in ('open', 'ambiguous')),
    verb        text collate "C" not null,
    turn        text collate "C" not null,
    org         text collate "C" not null,
    platform    text collate "C" not null,
    workspace   text collate "C" not null,
    channel     text collate "C" not null,
    reply       text collate "C" not null,
    seq         bigint  not null,
    dry_run     boolean not null,
    boot        text collate "C" not null,
    opened_at   bigint  not null,
    deadline_at bigint  not null,
    overwritten boolean not null default false,
    looks       integer not null default 0,
    first_miss  bigint,
    next_look   bigint
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
-- Each look-up has one index that can serve it, and no other: the table is
-- nearly empty most of the time, and what the planner then knows of it doesn't
-- tell a good choice from a bad one.
create index pending_turn on pending (turn, deadline_at);
create index pending_unresolved on pending (turn) where state = 'ambiguous';
create index pending_message on pending (org, reply) where reply <> '';

-- The own-post ledger. The last five columns are of a reply's first part,
-- whose row is also what writers of the message lock.
create table own_post (
    org              text collate "C" not null,
    platform         text collate "C" not null,
    workspace        text collate "C" not null,
    channel          text collate "C" not null,
    message_id       text collate "C" not null,
    reply            text collate "C" not null,
    part             integer not null,
    thread           text collate "C" not null,
    service_url      text collate "C" not null,
    organization     text collate "C" not null,
    session          text collate "C" not null,
    dry_run          boolean not null,
    posted_at        bigint  not null,
    editable_until   bigint  not null,
    closed_at        bigint,
    last_seq         bigint  not null default 0,
    opened_seq       bigint  not null default 0,
    confirmed_seq    bigint  not null default 0,
    confirmed_digest bytea,
    primary key (org, message_id, channel, workspace, platform)
) with (fillfactor = 85);
create index own_post_further_parts on own_post (org, reply) where reply <> message_id;
create index own_post_editable on own_post (org, channel, editable_until) where closed_at is null;
create index own_post_window on own_post (editable_until);

-- Numbered edits and retracts that wait for their message to be free.
create table edit_waiter (
    attempt    text collate "C" not null primary key,
    verb       text collate "C" not null,
    org        text collate "C" not null,
    platform   text collate "C" not null,
    workspace  text collate "C" not null,
    channel    text collate "C" not null,
    reply      text collate "C" not null,
    seq        bigint not null,
    wait_until bigint not null,
    principal  text collate "C" not null,
    claim_key  text collate "C",
    claim_hash bytea
);
create index edit_waiter_message on edit_waiter (org, reply);
create index edit_waiter_claim on edit_waiter (org, principal, verb, claim_key) where claim_key is not null;

create table idempotency (
    org        text collate "C" not null,
    principal  text collate "C" not null,
    verb       text collate "C" not null,
    claim_key  text collate "C" not null,
    claim_hash bytea  not null,
    attempt    text collate "C" not null,
    answer     bytea,
    made_at    bigint not null,
    keep_until bigint not null,
    primary key (org, principal, verb, claim_key)
) with (fillfactor = 85);
create unique index idempotency_attempt on idempotency (attempt);
create index idempotency_expiry on idempotency (keep_until);

-- One row that readiness writes to.
create table probe (
    id integer not null primary key check (id = 1),
    at bigint  not null
);
insert into probe (id, at) values (1, 0);
