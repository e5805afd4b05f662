-- Settles a charge in the log: puts what a request really cost in the place of its estimate.
--
-- KEYS[1]  the list of log.lua
-- ARGV     time recorded under, estimate, actual
-- returns  1 if it was found, 0 if it has left or was never there
--
-- It writes in place, so the key keeps its time to live.
local key = KEYS[1]
local time, estimate, actual = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local shape = redis.call('LINDEX', key, 0)
if not shape then
  return 0
end
local units = {}
for unit in string.gmatch(shape, '%a') do
  units[#units + 1] = unit
end
local size = 2 + 2 * #units
local count = (redis.call('LLEN', key) - size) / 2

-- The first entry of that time, by halves; of equal times any with that cost is as good.
local low, high = 0, count
while low < high do
  local middle = math.floor((low + high) / 2)
  if tonumber(redis.call('LINDEX', key, size + 2 * middle)) < time then
    low = middle + 1
  else
    high = middle
  end
end
while true do
  local found = redis.call('LRANGE', key, size + 2 * low, size + 2 * low + 1)
  if tonumber(found[1]) ~= time then
    return 0
  end
  if tonumber(found[2]) == estimate then
    break
  end
  low = low + 1
end

-- What is used stays below 2^52, so that every sum is a whole number.
local header = redis.call('LRANGE', key, 2, size - 1)
local more = actual - estimate
for q = 1, #units do
  if units[q] == 'p' and low >= tonumber(header[2 * q]) then
    more = math.min(more, 4503599627370496 - tonumber(header[2 * q - 1]))
  end
end
redis.call('LSET', key, size + 2 * low + 1, estimate + more)
for q = 1, #units do
  if units[q] == 'p' and low >= tonumber(header[2 * q]) then
    redis.call('LSET', key, 2 * q, tonumber(header[2 * q - 1]) + more)
  end
end
return 1
