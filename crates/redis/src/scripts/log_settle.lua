-- Settles a charge in the log: puts what a request really cost in the place of its estimate.
--
-- KEYS[1]  the list of log.lua
-- ARGV     time recorded under, estimate, actual
-- returns  1 if it was found, 0 if it has left or was never there
--
-- It writes in place, so the key keeps its time to live.
local call, key = redis.call, KEYS[1]
local time, estimate, more = ARGV[1] + 0, ARGV[2] + 0, ARGV[3] - ARGV[2]
local header = call('LINDEX', key, 0)
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

local function entry(i)
  local text = call('LINDEX', key, 1 + i)
  if text then
    local found = struct.unpack('<d', text)
    return found, #text == 8 and 1 or string.sub(text, 9) + 0
  end
end

-- The first entry of that time, by halves; of equal times any with that cost is as good.
local low, high = 0, call('LLEN', key) - 1
while low < high do
  local middle = math.floor((low + high) / 2)
  if entry(middle) < time then
    low = middle + 1
  else
    high = middle
  end
end
while true do
  local found, cost = entry(low)
  if found ~= time then
    return 0
  end
  if cost == estimate then
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
local actual = estimate + more
local digits = actual == 1 and '' or string.format('%.0f', actual)
call('LSET', key, 1 + low, struct.pack('<d', time) .. digits)
call('LSET', key, 0, struct.pack(format, unpack(state, 1, 3 + 2 * quotas)) .. shape)
return 1
