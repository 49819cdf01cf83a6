-- renew: hold on to one's own claim. The same decisions as protocol/renew.rs.
--
-- KEYS[1]  the identity's record
-- ARGV[1]  the record of the claim, as it was written; its token and fence name the owner
-- ARGV[2]  linger: how long an unfinished claim is remembered, in ms
-- ARGV[3]  '1' if an absent record may be written again, else '0'
--
-- Replies: 'renewed' 'reasserted' 'absent' 'lost'
--          {'corrupt', word} {'refused', the server's text}

local key, claimed, linger, restore = KEYS[1], ARGV[1], ARGV[2], ARGV[3]

local raw = redis.call('GET', key)
if not raw and restore ~= '1' then
  return 'absent'
end
if raw and raw ~= claimed then
  local wrong = damage(raw)
  if wrong == 'unknown_version' then
    return 'lost' -- a newer release wrote it, so another claim came after this one
  end
  if wrong then
    return {'corrupt', wrong}
  end
  if string.sub(raw, 2, 2) ~= 'I' or string.sub(raw, 5, 15) ~= string.sub(claimed, 5, 15)
      or string.sub(raw, 41, 62) ~= string.sub(claimed, 41, 62) then
    return 'lost'
  end
end

local reply = raw and 'renewed' or 'reasserted'
local written = raw and redis.pcall('PEXPIRE', key, linger) or redis.pcall('SET', key, claimed, 'PX', linger)
if type(written) == 'table' and written.err then
  return {'refused', written.err}
end
return reply
