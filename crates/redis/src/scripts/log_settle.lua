-- Settles a charge in the log: puts what a request really cost in the place of its estimate.
--
-- KEYS[1]  the list of log.lua
-- ARGV     time recorded under, estimate, actual
-- returns  1 if it was found, 0 if it has left or was never there
--
-- It writes in place, so the key keeps its time to live.
local key = KEYS[1]
local time, estimate, more = ARGV[1] + 0, ARGV[2] + 0, ARGV[3] - ARGV[2]
local header = redis.call('LINDEX', key, 0)
if not header then
  return 0
end
local quotas = #header > 24 and struct.unpack('<d', header) or 0
if quotas < 1 or not string.match(header, '^[pr]%d+', 25 + 16 * quotas) then
  return redis.error_reply('WRONGSTATE the list at this key is not a log of windowpane')
end
local format, shape = '<ddd' .. string.rep('dd', quotas), string.sub(header, 25 + 16 * quotas)
local state, units = {struct.unpack(format, header)}, {}
for unit in string.gmatch(shape, '%a') do
  units[#units + 1] = unit
end

-- The first entry of that time, by halves; of equal times any with that cost is as good.
local low, high = 0, (redis.call('LLEN', key) - 1) / 2
while low < high do
  local middle = math.floor((low + high) / 2)
  if redis.call('LINDEX', key, 1 + 2 * middle) + 0 < time then
    low = middle + 1
  else
    high = middle
  end
end
while true do
  local found = redis.call('LRANGE', key, 1 + 2 * low, 2 + 2 * low)
  if not found[2] or found[1] + 0 ~= time then
    return 0
  end
  if found[2] + 0 == estimate then
    break
  end
  low = low + 1
end

-- What is used stays below 2^52, so that every sum is a whole number.
for q = 1, quotas do
  if units[q] == 'p' and low >= state[3 + 2 * q] then
    more = math.min(more, 4503599627370496 - state[2 + 2 * q])
  end
end
for q = 1, quotas do
  if units[q] == 'p' and low >= state[3 + 2 * q] then
    state[2 + 2 * q] = state[2 + 2 * q] + more
  end
end
redis.call('LSET', key, 2 + 2 * low, estimate + more)
redis.call('LSET', key, 0, struct.pack(format, unpack(state, 1, 3 + 2 * quotas)) .. shape)
return 1
