-- renew: hold on to one's own claim. The same decisions as protocol/renew.rs.
--
-- KEYS[1]  the identity's record
-- ARGV[1]  the record of the claim, as it was written; its token and fence name the owner
-- ARGV[2]  linger: how long an unfinished claim is remembered, in ms
-- ARGV[3]  '1' if a record that is absent, or from before this claim, may be written again, else '0'
--
-- Replies: 'renewed' 'reasserted' 'uncertain' 'absent' 'lost'
--          {'corrupt', word} {'refused', the server's text}

local key, claimed, linger, restore = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local reply = 'renewed'

local raw = redis.call('GET', key)
if raw and raw ~= claimed then
  local wrong = damage(raw)
  if wrong == 'unknown_version' then
    return 'lost' -- a newer release wrote it, so another claim came after this one
  end
  if wrong then
    return {'corrupt', wrong}
  end

  local state = string.sub(raw, 2, 2)
  local own = (state == 'I' or state == 'U') and string.sub(raw, 5, 15) == string.sub(claimed, 5, 15)
      and string.sub(raw, 41, 62) == string.sub(claimed, 41, 62)
  if own and state == 'U' then
    return 'uncertain'
  end
  if not own and (state == 'U' or restore ~= '1' or not is_behind(key, raw, claimed)) then
    return 'lost'
  end
  -- Written over an earlier claim that the server knows no answer to: that is not forgotten.
  local earlier, origin = string.sub(raw, 76), string.sub(claimed, 76)
  if not own and (state == 'I' or (earlier ~= 'f' and earlier ~= 'r')) and (origin == 'f' or origin == 'r') then
    claimed = string.sub(claimed, 1, 75) .. 's'
  end
  reply = own and 'renewed' or 'reasserted'
elseif not raw and restore == '1' then
  reply = 'reasserted'
elseif not raw then
  return 'absent'
end

local written
if reply == 'renewed' then
  written = redis.pcall('PEXPIRE', key, linger)
else
  written = redis.pcall('SET', key, claimed, 'PX', linger)
end
if type(written) == 'table' and written.err then
  return {'refused', written.err}
end
return reply
