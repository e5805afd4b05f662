-- Two counters: the count of the window before, weighted by how much of it the sliding window still
-- covers, and the count of this window.
--
-- KEYS[1]  'start current previous window': when the current window began and what it and the one
--          before it accepted
-- ARGV     'acquire' or 'peek', charge, limit, window in microseconds
-- returns  as log.lua
--
-- Both counts in one key: one read, one write, one time to live, and no eviction tears them apart.
-- Integers only: a count times the window is at most 2^53, which is checked when a limiter is built
-- and kept by `most`. Quotients are made of exact remainders, not rounded.
local key, peek, charge = KEYS[1], ARGV[1] == 'peek', tonumber(ARGV[2])
local limit, window = tonumber(ARGV[3]), tonumber(ARGV[4])
local most = math.floor(9007199254740992 / window)

local at, start, current, previous = now, now - math.fmod(now, window), 0, 0
local state = redis.call('GET', key)
if state then
  local s, c, p, w = string.match(state, '^(%d+) (%d+) (%d+) (%d+)$')
  if not s then
    return redis.error_reply('WRONGSTATE the string at this key is not a counter of windowpane')
  end
  start, current, previous = tonumber(s), tonumber(c), tonumber(p)
  -- A time before the recorded window is read as its start: stricter, never looser.
  at = math.max(now, start)
  if tonumber(w) ~= window then
    -- Counted in another window: all of it counts in this one.
    start, current, previous = at - math.fmod(at, window), math.min(current + previous, most), 0
  elseif at - start >= window then
    previous = at - start < 2 * window and current or 0
    start, current = at - math.fmod(at, window), 0
  end
end
local elapsed = at - start

-- What must have elapsed of a window until `count` of the one before weighs at most `room`.
local function elapsed_until(count, room)
  if count <= room then
    return 0
  end
  local product = room * window
  return window - (product - math.fmod(product, count)) / count
end

-- The wait, from `now`, until `wanted` fits, which it does not yet.
local function wait(wanted)
  local room = limit - current - wanted
  if room >= 0 then
    return elapsed_until(previous, room) - elapsed + at - now
  end
  return window - elapsed + elapsed_until(current, limit - wanted) + at - now
end

local room, told = limit - current - charge, 0
if limit == 0 then
  told = -1
elseif room < 0 or previous * (window - elapsed) > room * window then
  told = wait(charge)
end
local allowed = told == 0
if allowed then
  current = current + charge
end

local product = previous * (window - elapsed)
local part = math.fmod(product, window)
local weight = (product - part) / window + (part > 0 and 1 or 0)
local left = math.max(limit - current - weight, 0)
local more = -1
if left < limit then
  more = wait(left + 1)
end

if allowed and not peek then
  local value = string.format('%.0f %.0f %.0f %.0f', start, current, previous, window)
  redis.call('SET', key, value, 'PX', life(2 * window - elapsed + at - now, window))
elseif not peek and at - now > window then
  -- The server's clock was set back. In two windows all of this is over, whatever it says then.
  local longest = life(2 * window, window)
  if redis.call('PTTL', key) > longest then
    redis.call('PEXPIRE', key, longest)
  end
end

return {allowed and 1 or 0, at, told, 0, more, left}
