-- claim: win the right to run, or say why not. The same decisions as protocol/claim.rs.
--
-- KEYS[1]  the identity's record
-- ARGV[1]  the record of this claim, were it the first: its fence is the least to hand out
-- ARGV[2]  linger: how long an unfinished claim is remembered, in ms
-- ARGV[3]  lease: the most that a conflict is told to wait, in ms
-- ARGV[4]  the record that the fast claim has just seen and read, which need not be checked again; '' if none
--
-- Replies: {'acquired', record} {'in_flight', ms left} {'replay', record} 'mismatch' 'stale'
--          {'corrupt', word} {'refused', the server's text}

local DIGITS = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz'
local LAST_FENCE = 'Ezzzzzzzzzz'
local LAST_ATTEMPT = 'zzz'

-- The number after the one that `digits` spells. On text, since a Lua number loses digits above 2^53.
local function successor(digits)
  local at = #digits
  while at > 0 and string.sub(digits, at, at) == 'z' do
    at = at - 1
  end
  local digit = string.find(DIGITS, string.sub(digits, at, at), 1, true)
  return string.sub(digits, 1, at - 1) .. string.sub(DIGITS, digit + 1, digit + 1) .. string.rep('-', #digits - at)
end

-- Whether a < b, byte by byte: the operator compares by the server's locale, in which `-` may not count at all.
local function below(a, b)
  for at = 1, #a do
    local x, y = string.byte(a, at), string.byte(b, at)
    if x ~= y then
      return x < y
    end
  end
  return false
end

-- The record of a claim that follows another: its fence above that one's and not below what is proposed, one attempt
-- more. nil where there is no greater fence.
local function followed_by(raw, proposed, origin)
  local fence, attempt = string.sub(raw, 5, 15), string.sub(raw, 16, 18)
  if fence == LAST_FENCE then
    return nil
  end
  fence = successor(fence)
  if below(fence, string.sub(proposed, 5, 15)) then
    fence = string.sub(proposed, 5, 15)
  end
  if attempt ~= LAST_ATTEMPT then
    attempt = successor(attempt)
  end
  return string.sub(proposed, 1, 4) .. fence .. attempt .. string.sub(proposed, 19, 75) .. origin
end

local key, proposed, linger, lease, seen = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local claimed = proposed

local raw = redis.call('GET', key)
if raw then
  local wrong = (raw == '' or raw ~= seen) and damage(raw)
  if wrong then
    return {'corrupt', wrong}
  end

  local state = string.sub(raw, 2, 2)
  local own = string.sub(raw, 41, 62) == string.sub(proposed, 41, 62)
  if string.sub(raw, 19, 40) ~= string.sub(proposed, 19, 40) then
    return 'mismatch'
  end
  if state == 'C' then
    return {'replay', raw}
  end
  if own then
    if state == 'I' then
      return {'acquired', raw}
    end
    return 'stale'
  end
  local origin = string.sub(raw, 76)
  if state == 'I' then
    local left = redis.call('PTTL', key)
    if left < 0 then
      return {'corrupt', 'no_expiry'}
    end
    left = left - tonumber(string.sub(raw, 63, 75))
    if left > 0 then
      return {'in_flight', math.min(left, lease)}
    end
    origin = 't'
  end

  claimed = followed_by(raw, proposed, origin)
  if not claimed then
    return {'corrupt', 'fence_limit'}
  end
end

local written = redis.pcall('SET', key, claimed, 'PX', linger)
if written.err then
  return {'refused', written.err}
end
return {'acquired', claimed}
