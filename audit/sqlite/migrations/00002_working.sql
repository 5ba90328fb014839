-- +goose Up

-- Attempts that are open or ambiguous, and no others: what marks of turns, the
-- busy check of a message, the sweeper and the resolver read. reply names the
-- message by its first part and is empty for a new post.
create table pending (
    attempt     text    not null primary key,
    state       text    not null check (state in ('open', 'ambiguous')),
    verb        text    not null,
    turn        text    not null,
    org         text    not null,
    platform    text    not null,
    workspace   text    not null,
    channel     text    not null,
    reply       text    not null,
    seq         bigint  not null,
    dry_run     integer not null check (dry_run in (0, 1)),
    boot        text    not null,
    opened_at   bigint  not null,
    deadline_at bigint  not null,
    overwritten integer not null default 0 check (overwritten in (0, 1)),
    looks       integer not null default 0,
    first_miss  bigint,
    next_look   bigint
);
create index pending_turn on pending (turn);
create index pending_message on pending (org, reply) where reply <> '';
create index pending_open on pending (deadline_at) where state = 'open';
create index pending_due on pending (next_look) where state = 'ambiguous';

-- The own-post ledger. The last five columns are of a reply's first part.
create table own_post (
    org              text    not null,
    platform         text    not null,
    workspace        text    not null,
    channel          text    not null,
    message_id       text    not null,
    reply            text    not null,
    part             integer not null,
    thread           text    not null,
    service_url      text    not null,
    organization     text    not null,
    session          text    not null,
    dry_run          integer not null check (dry_run in (0, 1)),
    posted_at        bigint  not null,
    editable_until   bigint  not null,
    closed_at        bigint,
    last_seq         bigint  not null default 0,
    opened_seq       bigint  not null default 0,
    confirmed_seq    bigint  not null default 0,
    confirmed_digest blob,
    primary key (org, platform, workspace, channel, message_id)
);
create index own_post_by_id on own_post (org, message_id);
create index own_post_by_reply on own_post (org, reply);
create index own_post_editable on own_post (org, channel, editable_until) where closed_at is null;
create index own_post_expiry on own_post (editable_until);

-- Numbered edits and retracts that wait for their message to be free.
create table edit_waiter (
    attempt    text   not null primary key,
    verb       text   not null,
    org        text   not null,
    platform   text   not null,
    workspace  text   not null,
    channel    text   not null,
    reply      text   not null,
    seq        bigint not null,
    wait_until bigint not null,
    principal  text   not null,
    claim_key  text,
    claim_hash blob
);
create index edit_waiter_message on edit_waiter (org, reply);
create index edit_waiter_claim on edit_waiter (org, principal, verb, claim_key) where claim_key is not null;
create index edit_waiter_until on edit_waiter (wait_until);

create table idempotency (
    org        text   not null,
    principal  text   not null,
    verb       text   not null,
    claim_key  text   not null,
    claim_hash blob   not null,
    attempt    text   not null,
    answer     blob,
    made_at    bigint not null,
    keep_until bigint not null,
    primary key (org, principal, verb, claim_key)
);
create unique index idempotency_attempt on idempotency (attempt);
create index idempotency_expiry on idempotency (keep_until);

-- One row that readiness writes to.
create table probe (
    id integer not null primary key check (id = 1),
    at bigint  not null
);
insert into probe (id, at) values (1, 0);
