-- inspect: what is known of an identity. Only reads; protocol/inspect.rs judges it.
--
-- KEYS[1]  the identity's record
--
-- Replies: {'found', {the record's first 77 bytes, ms left of its life or -1}} 'absent'

local key = KEYS[1]

-- Without the payload, which may be long; one byte more than a header has tells a damaged one that is too long.
local header = redis.call('GETRANGE', key, 0, 76)
if header == '' and redis.call('EXISTS', key) == 0 then
  return 'absent' -- GETRANGE answers the same for an empty value
end
return {'found', {header, redis.call('PTTL', key)}}
