-- GCRA, the token bucket told by one time: a burst of `limit` at once, then a permit each interval.
--
-- KEYS[1]  the theoretical arrival time: when all that was accepted would have been accepted at the
--          bare rate
-- ARGV     'acquire' or 'peek', charge, the longest life of a key in ms, limit, interval and
--          tolerance (limit times interval) in microseconds
-- returns  as log.lua
--
-- Integers only: the tolerance is at most 2^52, which is checked when a limiter is built.
local key, peek, most = KEYS[1], ARGV[1] == 'peek', ARGV[3] + 0
local limit, interval, tolerance = ARGV[4] + 0, ARGV[5] + 0, ARGV[6] + 0

local ahead, state = 0, redis.call('GET', key)
if state then
  local arrival = tonumber(state)
  if not arrival then
    return redis.error_reply('WRONGSTATE the string at this key is not a time of windowpane')
  end
  if arrival > now then
    ahead = arrival - now
  end
end

local before, wait = ahead, ahead + ARGV[2] * interval - tolerance
if limit == 0 then
  wait = -1
elseif wait <= 0 then
  wait, ahead = 0, ahead + ARGV[2] * interval
end

local left, more = 0, -1
if ahead < tolerance then
  left = (tolerance - ahead - (tolerance - ahead) % interval) / interval
end
if left < limit then
  more = ahead + (left + 1) * interval - tolerance
end

if peek then
  return {wait, now, 0, more, left}
end
if wait == 0 then
  -- One millisecond more than is left, because the server counts from when the script began.
  local life = (ahead - ahead % 1000) / 1000 + 2
  redis.call('PSETEX', key, life < most and life or most, now + ahead)
elseif before > tolerance and redis.call('PTTL', key) > most then
  -- The server's clock was set back, or the quota made smaller: two windows are enough.
  redis.call('PEXPIRE', key, most)
end
return {wait, now, 0, more, left}
