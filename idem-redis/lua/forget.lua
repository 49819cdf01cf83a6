-- forget: free an identity for another run. The same decisions as protocol/forget.rs.
--
-- KEYS[1]  the identity's record
-- ARGV[1]  the fence of the attempt that was looked at
-- ARGV[2]  '1' if a claim that is held is freed as well, else '0'
-- ARGV[3]  how long a released record is remembered, in ms
--
-- Replies: 'deleted' 'released' 'live' 'changed' 'absent' {'corrupt', word} {'refused', the server's text}

local key, fence, force, retention = KEYS[1], ARGV[1], ARGV[2], ARGV[3]

local raw = redis.call('GET', key)
if not raw then
  return 'absent'
end
local wrong = damage(raw)
if wrong then
  return {'corrupt', wrong}
end
if string.sub(raw, 5, 15) ~= fence then
  return 'changed'
end

local state = string.sub(raw, 2, 2)
if state == 'R' then
  return 'released'
end
if state == 'I' and force ~= '1' then
  local left = lease_left(key, raw)
  if not left then
    return {'corrupt', 'no_expiry'}
  end
  if left > 0 then
    return 'live'
  end
end

local reply, written = 'deleted'
if state == 'C' or state == 'F' then
  written = redis.pcall('DEL', key)
else
  reply, written = 'released', redis.pcall('SET', key, freed(raw), 'PX', retention)
end
if type(written) == 'table' and written.err then
  return {'refused', written.err}
end
return reply
