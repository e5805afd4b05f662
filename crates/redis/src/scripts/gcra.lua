-- GCRA, the token bucket told by one time: a burst of `limit` at once, then a permit each interval.
--
-- KEYS[1]  the theoretical arrival time: when all that was accepted would have been accepted at the
--          bare rate
-- ARGV     'acquire' or 'peek', charge, limit, interval and window in microseconds
-- returns  as log.lua
--
-- Integers only: limit times interval is at most 2^52, which is checked when a limiter is built.
local key, peek, charge = KEYS[1], ARGV[1] == 'peek', tonumber(ARGV[2])
local limit, interval, window = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local tolerance = limit * interval

local ahead, state = 0, redis.call('GET', key)
if state then
  local arrival = tonumber(state)
  if not arrival then
    return redis.error_reply('WRONGSTATE the string at this key is not a time of windowpane')
  end
  ahead = math.max(arrival - now, 0)
end

local told = 0
if limit == 0 then
  told = -1
else
  told = math.max(ahead + charge * interval - tolerance, 0)
end
local allowed = told == 0
local before = ahead
if allowed then
  ahead = ahead + charge * interval
end

local room = math.max(tolerance - ahead, 0)
local left = math.min((room - math.fmod(room, interval)) / interval, limit)
local more = -1
if left < limit then
  more = ahead + (left + 1) * interval - tolerance
end

if allowed and not peek then
  redis.call('SET', key, string.format('%.0f', now + ahead), 'PX', life(ahead, window))
elseif not peek and before > tolerance then
  -- The server's clock was set back, or the quota made smaller: two windows are enough.
  local most = life(2 * window, window)
  if redis.call('PTTL', key) > most then
    redis.call('PEXPIRE', key, most)
  end
end

return {allowed and 1 or 0, now, told, 0, more, left}
