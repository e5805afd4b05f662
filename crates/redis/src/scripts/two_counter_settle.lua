-- Settles a charge in the two counters: in the count of the window in which it was recorded.
--
-- KEYS[1]  the five doubles of two_counter.lua
-- ARGV     time recorded under, estimate, actual
-- returns  1 if that window is still known, 0 if not
--
-- It needs no clock: what is stored says which window is which.
local key = KEYS[1]
local time, more = tonumber(ARGV[1]), ARGV[3] - ARGV[2]
local state = redis.call('GET', key)
if not state then
  return 0
end
if #state ~= 40 then
  return redis.error_reply('WRONGSTATE the string at this key is not a counter of windowpane')
end
local current, previous, start, window = struct.unpack('<dddd', state)
-- A count times the window stays a whole number.
local largest = math.floor(9007199254740992 / window)
if time >= start and time < start + window then
  current = math.max(0, math.min(current + more, largest))
elseif time < start and time >= start - window then
  previous = math.max(0, math.min(previous + more, largest))
else
  return 0
end
-- In place, which keeps the time to live.
redis.call('SETRANGE', key, 0, struct.pack('<dd', current, previous))
return 1
