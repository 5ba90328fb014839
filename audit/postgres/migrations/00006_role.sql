-- +goose Up

-- A role to give to the login that the gateway uses day by day, while the
-- login that migrates owns the tables: it can add to the trail and never change
-- it. A role belongs to the whole cluster, so it may be there already, and
-- another database may make it at the same moment. Where this login may not
-- make roles, there is none; the triggers hold either way.

-- +goose StatementBegin
do $$
begin
    if not exists (select 1 from pg_roles where rolname = 'stet_app') then
        begin
            create role stet_app nologin;
        exception when duplicate_object or unique_violation then null;
        end;
    end if;
    execute format('grant usage on schema %I to stet_app', current_schema());
    grant select, insert on audit_row, attempt to stet_app;
    grant select, insert, update, delete on pending, own_post, edit_waiter, idempotency, probe, session, turn,
        evidence, transcript, activity, api_key to stet_app;
    grant select on goose_db_version to stet_app;
exception when insufficient_privilege then null;
end $$;
-- +goose StatementEnd
