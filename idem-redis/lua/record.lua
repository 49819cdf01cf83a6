-- The record's header, as the scripts read it; joined in front of each verb that judges a record.
-- Layout, counted from 1: version 1, state 2, codec 3, scheme 4, fence 5-15, attempt 16-18, fingerprint 19-40;
-- unfinished records also: token 41-62, floor 63-75, origin 76. Numbers are digits that sort as the numbers do.
-- States: I in flight, R released, U uncertain, C completed, F failed; the last two are settled.

-- What is wrong with a stored value, as a word; nil where it is a record of format 1.
local function damage(raw)
  if string.find(raw, '^[02-9]') and #raw >= 4 then
    return 'unknown_version'
  end
  local settled = string.find(raw, '^1[CF][%-a-z]') and #raw >= 40
  local unfinished = string.find(raw, '^1[IRU]%-') and #raw == 76
      and string.find(string.sub(raw, 41, 62), '^[%-0-2][%-0-9A-Z_a-z]+$')
      and string.find(string.sub(raw, 63, 75), '^[0-9]+$')
      and string.find(raw, '[frstd]$')
  if not settled and not unfinished then
    return 'unreadable'
  end
  -- Only a released record may be bound to no arguments, and never after an attempt that may have had its effect.
  if string.sub(raw, 4, 4) ~= '1' and not (string.find(raw, '^1R%-%-') and string.find(raw, 'r$')
      and string.sub(raw, 19, 40) == string.rep('-', 22)) then
    return 'unknown_scheme'
  end
  if not string.find(string.sub(raw, 5, 18), '^[%-0-9A-E][%-0-9A-Z_a-z]+$')
      or not string.find(string.sub(raw, 19, 40), '^[%-0-2][%-0-9A-Z_a-z]+$') then
    return 'unreadable'
  end
  return nil
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

-- What is left of the lease of a record in flight, in ms: over at 0 and less. nil where it never expires.
local function lease_left(key, raw)
  local left = redis.call('PTTL', key)
  return left >= 0 and left - tonumber(string.sub(raw, 63, 75)) or nil
end

-- Whether the server has gone back in time, to before the record `later`, and nobody has come since: after a failover
-- to a replica that had not seen that one. To whoever is sure of its lease, what is stored is then as good as absent.
local function is_behind(key, raw, later)
  local state = string.sub(raw, 2, 2)
  local idle = state == 'R' or state == 'U'
  if state == 'I' then
    local left = lease_left(key, raw)
    idle = left and left <= 0
  end
  return idle and below(string.sub(raw, 5, 15), string.sub(later, 5, 15))
      and below(string.sub(raw, 16, 18), string.sub(later, 16, 18))
end

-- The record of a claim that a person freed: it may be claimed again, and that it ended without an answer is not
-- forgotten.
local function freed(raw)
  return '1R' .. string.sub(raw, 3, 75) .. 's'
end
