-- Two counters: the count of the window before, weighted by how much of it the sliding window still
-- covers, and the count of this window.
--
-- KEYS[1]  five doubles: what the current window and the one before it accepted, when the current
--          one began, the window, and until when the key lives at least
-- ARGV[1]  packed doubles: charge, the longest life of a key in ms, limit, window in microseconds
-- ARGV[2]  'peek', or nothing to acquire
-- returns  as log.lua
--
-- Both counts in one key: one read, one write, one time to live, and no eviction tears them apart.
-- Integers only: a count times the window is at most 2^53, which is checked when a limiter is built
-- and kept by what settles. The remainder of two such numbers is exact, and so are the quotients
-- that are made of it.
local call, key = redis.call, KEYS[1]
local charge, most, limit, window = struct.unpack('<dddd', ARGV[1])

local at, start, current, previous = now, now - now % window, 0, 0
local expires, kept = 0, false
local state = call('GET', key)
if state then
  if #state ~= 40 then
    return redis.error_reply('WRONGSTATE the string at this key is not a counter of windowpane')
  end
  local counted
  current, previous, start, counted, expires = struct.unpack('<ddddd', state)
  -- A time before the recorded window is read as its start: stricter, never looser.
  if start > now then
    at = start
  end
  if counted ~= window then
    -- Counted in another window: all of it counts in this one.
    local largest = math.floor(9007199254740992 / window)
    start, current, previous = at - at % window, math.min(current + previous, largest), 0
  elseif at - start >= window then
    previous = at - start < 2 * window and current or 0
    start, current = at - at % window, 0
  else
    kept = true
  end
end
local elapsed = at - start

local told = 0
if limit == 0 then
  told = -1
elseif previous * (window - elapsed) > (limit - current - charge) * window then
  told = nil
else
  current = current + charge
end

-- The weight of the window before is rounded up.
local product = previous * (window - elapsed)
local part = product % window
local left, more = limit - current - (product - part) / window, -1
if part > 0 then
  left = left - 1
end
if left < 0 then
  left = 0
end

-- The wait, from `now`, until `wanted` fits, which it does not yet: until enough of a window has
-- elapsed that the count of the one before weighs at most what is left. Once for what is asked, if
-- it is denied, and once for more than is left, which mostly is the same.
local wanted = told and left + 1 or charge
while left < limit do
  local room, count, began = limit - current - wanted, previous, start
  if room < 0 then
    room, count, began = limit - wanted, current, start + window
  end
  more = began - now
  if count > room then
    product = room * window
    more = began + window - (product - product % count) / count - now
  end
  told = told or more
  if wanted == left + 1 then
    break
  end
  wanted = left + 1
end

local reply = struct.pack('<ddddd', told, at, 0, more, left)
if ARGV[2] then
  return reply
end
if told == 0 then
  if kept and expires >= start + 2 * window then
    -- In place, which keeps the time to live.
    call('SETRANGE', key, '0', struct.pack('<d', current))
  else
    -- Until both windows are over. One millisecond more, because the server counts from when the
    -- script began.
    local span = start + 2 * window - now
    local life = (span - span % 1000) / 1000 + 2
    life = life < most and life or most
    expires = now - now % 1000 + 1000 * life
    local value = struct.pack('<ddddd', current, previous, start, window, expires)
    call('PSETEX', key, string.format('%d', life), value)
  end
elseif at - now > window and call('PTTL', key) > most then
  -- The server's clock was set back. In two windows all of this is over, whatever it says then.
  local value = struct.pack('<ddddd', current, previous, start, window, 0)
  call('PSETEX', key, most, value)
end
return reply
