-- GCRA as it is usually written: seconds as floats, the burst beside the rate.
-- ARGV: limit, window in seconds.
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local interval = ARGV[2] / ARGV[1]
local tat = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
local after = tat + interval
local allow_at = after - ARGV[2]
if allow_at > now then
  return {0, tostring(allow_at - now)}
end
redis.call('SET', KEYS[1], string.format('%.6f', after), 'PX', math.ceil((after - now) * 1000))
return {1, tostring(now - allow_at)}
