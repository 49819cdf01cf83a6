-- The record's header, as every script reads it; joined in front of each verb at compile time.
-- Layout, counted from 1: version 1, state 2, codec 3, scheme 4, fence 5-15, attempt 16-18, fingerprint 19-40;
-- unfinished records also: token 41-62, floor 63-75, origin 76. Numbers are digits that sort as the numbers do.

-- What is wrong with a stored value, as a word; nil where it is a record of format 1.
local function damage(raw)
  if string.find(raw, '^[02-9]') and #raw >= 4 then
    return 'unknown_version'
  end
  local settled = string.find(raw, '^1C[%-a-z]') and #raw >= 40
  local unfinished = string.find(raw, '^1[IR]%-') and #raw == 76
      and string.find(string.sub(raw, 41, 62), '^[%-0-2][%-0-9A-Z_a-z]+$')
      and string.find(string.sub(raw, 63, 75), '^[0-9]+$')
      and string.find(raw, '[frst]$')
  if not settled and not unfinished then
    return 'unreadable'
  end
  if string.sub(raw, 4, 4) ~= '1' then
    return 'unknown_scheme'
  end
  if not string.find(string.sub(raw, 5, 18), '^[%-0-9A-E][%-0-9A-Z_a-z]+$')
      or not string.find(string.sub(raw, 19, 40), '^[%-0-2][%-0-9A-Z_a-z]+$') then
    return 'unreadable'
  end
  return nil
end
