-- release: give one's own claim up, unfinished. The same decisions as protocol/release.rs.
--
-- KEYS[1]  the identity's record
-- ARGV[1]  the claim's token
-- ARGV[2]  the claim's fence, after its body ran; '' for a claim under which nothing ran
-- ARGV[3]  what the body's error says of its effect: 'released' 'held' 'rejected'
-- ARGV[4]  how long the released record is remembered, in ms
-- ARGV[5]  how long an unknown outcome is remembered, in ms
--
-- Replies: 'released' 'uncertain' 'unchanged' {'corrupt', word} {'refused', the server's text}

local key, token, fence, given_up, retention, memory = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local ran = fence ~= ''

local raw = redis.call('GET', key)
if not raw then
  return 'unchanged'
end
local wrong = damage(raw)
if wrong == 'unknown_version' then
  return 'unchanged'
end
if wrong then
  return {'corrupt', wrong}
end
local state, origin = string.sub(raw, 2, 2), string.sub(raw, 76)
if (state ~= 'I' and state ~= 'U') or string.sub(raw, 41, 62) ~= token
    or (ran and string.sub(raw, 5, 15) ~= fence) then
  return 'unchanged'
end

-- Whether an earlier attempt may have had its effect. That is never forgotten.
local follows_takeover = origin ~= 'f' and origin ~= 'r'
local reply, record, life
-- Without a body nothing is answered: neither what it was won to ask for, nor the attempt that it took over, once
-- somebody was told that nobody knows.
local unasked = not ran and (origin == 'd' or (state == 'U' and origin == 't'))
if unasked or (ran and given_up == 'held') then
  reply, record, life = 'uncertain', '1U' .. string.sub(raw, 3), memory
else
  local next_origin = not follows_takeover and 'r' or ran and 's' or origin
  local bound = string.sub(raw, 4, 40)
  if ran and given_up == 'rejected' and not follows_takeover then
    bound = '-' .. string.sub(raw, 5, 18) .. string.rep('-', 22)
  end
  reply, record, life = 'released', '1R-' .. bound .. string.sub(raw, 41, 75) .. next_origin, retention
end

local written = redis.pcall('SET', key, record, 'PX', life)
if not written.err then
  return reply
end
-- No memory for another record. None at all frees the key as well, only the attempts start again. Where there is more
-- to remember, the lease ends now instead, and the next claim meets a crash: no less than what it must know. An outcome
-- that the body left unknown is neither free nor crashed: that is refused, for the caller to send again while it may.
if string.find(written.err, 'OOM', 1, true) and reply == 'released' then
  if not follows_takeover then
    redis.call('DEL', key)
    return 'released'
  end
  if state == 'I' then
    redis.call('PEXPIRE', key, tonumber(string.sub(raw, 63, 75)))
    return origin == 'd' and 'uncertain' or 'released'
  end
end
return {'refused', written.err}
