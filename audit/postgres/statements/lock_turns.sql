-- Locks turns in the order of their ids: those that something is opened in, and
-- those that get a mark they lack.
select 1
from (select i.id, bool_or(i.always) as always
    from unnest($1::text[], $2::boolean[]) as i (id, always) group by i.id order by i.id) i,
    lateral (select 1 from turn t where t.id = i.id and (i.always or not t.may_end) for no key update) t
