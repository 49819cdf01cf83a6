-- release: give one's own claim up, unfinished. The same decisions as protocol/release.rs.
--
-- KEYS[1]  the identity's record
-- ARGV[1]  the claim's token
-- ARGV[2]  the claim's fence, after its body ran; '' for a claim under which nothing ran
-- ARGV[3]  how long the released record is remembered, in ms
--
-- Replies: 'released' 'unchanged' {'corrupt', word} {'refused', the server's text}

local key, token, fence, retention = KEYS[1], ARGV[1], ARGV[2], ARGV[3]

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
if string.sub(raw, 2, 2) ~= 'I' or string.sub(raw, 41, 62) ~= token
    or (fence ~= '' and string.sub(raw, 5, 15) ~= fence) then
  return 'unchanged'
end

-- How the next claim is won: that an attempt was taken over is not forgotten.
local origin = string.sub(raw, 76)
if origin == 't' and fence ~= '' then
  origin = 's'
elseif origin == 'f' then
  origin = 'r'
end

local written = redis.pcall('SET', key, '1R' .. string.sub(raw, 3, 75) .. origin, 'PX', retention)
if written.err and string.find(written.err, 'OOM', 1, true) then
  -- No memory for the record of a release. None at all frees the key as well, only the attempt starts again; but a
  -- takeover must not be forgotten, so there the lease ends now instead.
  if origin == 't' or origin == 's' then
    redis.call('PEXPIRE', key, tonumber(string.sub(raw, 63, 75)))
  else
    redis.call('DEL', key)
  end
elseif written.err then
  return {'refused', written.err}
end
return 'released'
