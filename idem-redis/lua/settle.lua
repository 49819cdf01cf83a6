-- settle: say how an attempt ended whose outcome nobody knew. The same decisions as protocol/settle.rs.
--
-- KEYS[1]  the identity's record
-- ARGV[1]  the fence of the attempt that was looked at
-- ARGV[2]  a settled record, of which state, codec and payload count; '' if the next call is to run
-- ARGV[3]  how long the settled or released record is remembered, in ms
--
-- Replies: 'settled' 'live' 'changed' 'absent' {'corrupt', word} {'refused', the server's text}

local key, fence, ending, retention = KEYS[1], ARGV[1], ARGV[2], ARGV[3]

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
local settled = freed(raw)
if ending ~= '' then
  settled = string.sub(ending, 1, 3) .. string.sub(raw, 4, 40) .. string.sub(ending, 41)
end
if raw == settled or (state == 'R' and ending == '') then
  return 'settled' -- an earlier request may be what did it
end
if state ~= 'I' and state ~= 'U' then
  return 'changed'
end
if state == 'I' then
  local left = lease_left(key, raw)
  if not left then
    return {'corrupt', 'no_expiry'}
  end
  if left > 0 then
    return 'live'
  end
end

local written = redis.pcall('SET', key, settled, 'PX', retention)
if written.err then
  return {'refused', written.err}
end
return 'settled'
