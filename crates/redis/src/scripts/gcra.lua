-- GCRA, the token bucket told by one time: a burst of `limit` at once, then a permit each interval.
--
-- KEYS[1]  two doubles: the theoretical arrival time, when all that was accepted would have been
--          accepted at the bare rate; and until when the key lives at least
-- ARGV[1]  packed doubles: charge, the longest life of a key in ms, limit, interval and tolerance
--          (limit times interval) in microseconds
-- ARGV[2]  'peek', or nothing to acquire
-- returns  as log.lua
--
-- Integers only: the tolerance is at most 2^52, which is checked when a limiter is built.
local call, key = redis.call, KEYS[1]
local charge, most, limit, interval, tolerance = struct.unpack('<ddddd', ARGV[1])

local ahead, arrival, expires, state = 0, 0, 0, call('GET', key)
if state then
  if #state ~= 16 then
    return redis.error_reply('WRONGSTATE the string at this key is not a time of windowpane')
  end
  arrival, expires = struct.unpack('<dd', state)
  if arrival > now then
    ahead = arrival - now
  end
end

local before, wait = ahead, ahead + charge * interval - tolerance
if limit == 0 then
  wait = -1
elseif wait <= 0 then
  wait, ahead = 0, ahead + charge * interval
end

local left, more = 0, -1
if ahead < tolerance then
  left = (tolerance - ahead - (tolerance - ahead) % interval) / interval
end
if left < limit then
  more = ahead + (left + 1) * interval - tolerance
end

local reply = struct.pack('<ddddd', wait, now, 0, more, left)
if ARGV[2] then
  return reply
end
if wait == 0 then
  arrival = now + ahead
  if expires >= arrival then
    -- In place, which keeps the time to live.
    call('SETRANGE', key, '0', struct.pack('<d', arrival))
  else
    -- Longer than needed by a tenth of the longest, so that a busy key gets a new life seldom. One
    -- millisecond more, because the server counts from when the script began.
    local life = (ahead - ahead % 1000) / 1000 + 2 + math.floor(most / 10)
    life = life < most and life or most
    local value = struct.pack('<dd', arrival, now - now % 1000 + 1000 * life)
    call('PSETEX', key, string.format('%d', life), value)
  end
elseif before > tolerance and call('PTTL', key) > most then
  -- The server's clock was set back, or the quota made smaller: two windows are enough.
  call('PSETEX', key, most, struct.pack('<dd', arrival, 0))
end
return reply
