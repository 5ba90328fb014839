-- Locks messages by their first parts, in the order of their keys: those that
-- targets name, and those that attempts are about.
select 1
from (
    select e.org, e.reply, e.channel, e.workspace, e.platform
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
        as i (org, target, channel, workspace, platform),
        lateral (select * from own_post e where e.org = i.org and e.message_id = i.target
            and e.channel = i.channel and e.workspace = i.workspace and e.platform = i.platform limit 1) e
    union
    select a.org, a.reply, a.place_channel, a.place_workspace, a.place_platform
    from unnest($6::text[]) as i (id),
        lateral (select * from attempt a where a.id = i.id and a.reply <> '' limit 1) a
    order by 1, 2, 3, 4, 5) i,
    lateral (select 1 from own_post h where h.org = i.org and h.message_id = i.reply and h.channel = i.channel
        and h.workspace = i.workspace and h.platform = i.platform for no key update) h
