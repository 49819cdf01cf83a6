-- complete: settle one's own claim with its result. The same decisions as protocol/complete.rs.
--
-- KEYS[1]  the identity's record
-- ARGV[1]  the owner's token
-- ARGV[2]  the settled record; its fence is the owner's
-- ARGV[3]  retention: how long it answers repeats, in ms
-- ARGV[4]  '1' if a record that is absent, or from before this claim, may be written again, else '0'
--
-- Replies: 'completed' 'already' 'restored' 'absent' 'lost'
--          {'corrupt', word} {'refused', the server's text}

local key, token, settled, retention, restore = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local reply = 'completed'

local raw = redis.call('GET', key)
-- Nearly always the record is the owner's own, to the byte: a record of format 1 then, with nothing more to check.
local own = '1I-1' .. string.sub(settled, 5, 40) .. token
if raw == settled then
  return 'already' -- to the byte: a fence is unique only while its record is there
end
if raw and (string.sub(raw, 1, 62) ~= own or #raw ~= 76 or not string.find(raw, '^%d+[frstd]$', 63)) then
  local wrong = damage(raw)
  if wrong == 'unknown_version' then
    return 'lost' -- a newer release wrote it, so another claim came after this one
  end
  if wrong then
    return {'corrupt', wrong}
  end

  local state = string.sub(raw, 2, 2)
  if (state ~= 'I' and state ~= 'U') or string.sub(raw, 5, 15) ~= string.sub(settled, 5, 15)
      or string.sub(raw, 41, 62) ~= token then
    if restore ~= '1' or not is_behind(key, raw, settled) then
      return 'lost'
    end
    reply = 'restored'
  end
elseif not raw and restore == '1' then
  reply = 'restored'
elseif not raw then
  return 'absent'
end

local written = redis.pcall('SET', key, settled, 'PX', retention)
if written.err then
  return {'refused', written.err}
end
return reply
