-- Settles a charge in the two counters: in the count of the window in which it was recorded.
--
-- KEYS[1]  the four doubles of two_counter.lua
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
if #state ~= 32 then
  return redis.error_reply('WRONGSTATE the string at this key is not a counter of windowpane')
end
local start, current, previous, window = struct.unpack('<dddd', state)
-- A count times the window stays a whole number.
local largest = math.floor(9007199254740992 / window)
if time >= start and time < start + window then
  current = math.max(0, math.min(current + more, largest))
elseif time < start and time >= start - window then
  previous = math.max(0, math.min(previous + more, largest))
else
  return 0
end
redis.call('SET', key, struct.pack('<dddd', start, current, previous, window), 'KEEPTTL')
return 1
