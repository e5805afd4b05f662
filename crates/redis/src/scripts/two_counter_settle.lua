-- Settles a charge in the two counters: in the count of the window in which it was recorded.
--
-- KEYS[1]  the string of two_counter.lua
-- ARGV     time recorded under, estimate, actual
-- returns  1 if that window is still known, 0 if not
--
-- It needs no clock: what is stored says which window is which.
local key = KEYS[1]
local time, estimate, actual = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local state = redis.call('GET', key)
if not state then
  return 0
end
local start, current, previous, window = string.match(state, '^(%d+) (%d+) (%d+) (%d+)$')
if not start then
  return redis.error_reply('WRONGSTATE the string at this key is not a counter of windowpane')
end
start, current, previous, window =
  tonumber(start), tonumber(current), tonumber(previous), tonumber(window)
local most = math.floor(9007199254740992 / window)
if time >= start and time < start + window then
  current = math.max(0, math.min(current + actual - estimate, most))
elseif time < start and time >= start - window then
  previous = math.max(0, math.min(previous + actual - estimate, most))
else
  return 0
end
local value = string.format('%.0f %.0f %.0f %.0f', start, current, previous, window)
redis.call('SET', key, value, 'KEEPTTL')
return 1
