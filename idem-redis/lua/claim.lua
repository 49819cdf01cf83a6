-- claim: win the right to run, or say why not. The same decisions as protocol/claim.rs.
--
-- KEYS[1]  the identity's record
-- ARGV[1]  the record of this claim, were it the first: its fence is the least to hand out
-- ARGV[2]  linger: how long an unfinished claim is remembered, in ms
-- ARGV[3]  lease: the most that a conflict is told to wait, in ms
-- ARGV[4]  what to do about an attempt whose lease ran out: 'rerun' 'refuse' 'recover'
-- ARGV[5]  no attempt follows after this many, as digits; '' if any number may
-- ARGV[6]  how long an unknown outcome is remembered, in ms
-- ARGV[7]  the record that the fast claim has just seen and read, which need not be checked again; absent if none
--
-- Replies: {'acquired', record} {'in_flight', ms left} {'replay', record} 'mismatch' 'stale'
--          {'uncertain', record} {'exhausted', 'crashed' or 'released'}
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

local key, proposed, linger, lease = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local on_crash, most, memory, seen = ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local reply, record, life = 'acquired', proposed, linger

local raw = redis.call('GET', key)
if raw then
  local wrong = raw ~= seen and damage(raw)
  if wrong then
    return {'corrupt', wrong}
  end

  local state, origin = string.sub(raw, 2, 2), string.sub(raw, 76)
  local own = string.sub(raw, 41, 62) == string.sub(proposed, 41, 62)
  local bound = string.sub(raw, 4, 4) ~= '-'
  if bound and string.sub(raw, 19, 40) ~= string.sub(proposed, 19, 40) then
    return 'mismatch'
  end
  if state == 'C' or state == 'F' then
    return {'replay', raw}
  end
  if state == 'I' and own then
    return {'acquired', raw}
  end
  if state == 'R' and own then
    return 'stale'
  end
  if state == 'U' and (own or on_crash ~= 'recover') then
    return {'uncertain', raw}
  end

  if state == 'I' then
    local left = lease_left(key, raw)
    if not left then
      return {'corrupt', 'no_expiry'}
    end
    if left > 0 then
      return {'in_flight', math.min(left, lease)}
    end
  end
  -- A takeover that was let go before anything ran leaves its crash to whoever comes next.
  local crashed = state ~= 'R' or origin == 't'
  if state == 'U' or (crashed and on_crash == 'recover') then
    origin = 'd'
  elseif crashed and on_crash == 'rerun' and origin ~= 'd' then
    origin = 't'
  elseif crashed then
    -- A claim that was won to ask ended without an answer: nobody runs on that who would not ask.
    reply, record, life = 'uncertain', '1U' .. string.sub(raw, 3), memory
  end

  if reply == 'acquired' then
    if most ~= '' and not below(string.sub(raw, 16, 18), most) then
      return {'exhausted', crashed and 'crashed' or 'released'}
    end
    record = followed_by(raw, proposed, origin)
    if not record then
      return {'corrupt', 'fence_limit'}
    end
  end
end

local written = redis.pcall('SET', key, record, 'PX', life)
if written.err then
  return {'refused', written.err}
end
return {reply, record}
