-- Locks attempts that are open or ambiguous, in the order of their ids.
select 1
from (select i.id from unnest($1::text[]) as i (id) order by i.id) i,
    lateral (select 1 from pending p where p.attempt = i.id for update) p
