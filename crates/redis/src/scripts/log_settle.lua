-- Settles a charge in the log: replaces the estimate of a request by its actual cost.
--
-- KEYS[1]  the string of log.lua
-- ARGV     time recorded under, estimate, actual
-- returns  1 if it was found, 0 if it has left or was never there
--
-- It writes in place, so the key keeps its time to live.
local call, key, pack, unpack_ = redis.call, KEYS[1], struct.pack, struct.unpack
local time, estimate, more = ARGV[1] + 0, ARGV[2] + 0, ARGV[3] - ARGV[2]
local function bytes(from, to)
  return call('GETRANGE', key, string.format('%d', from), string.format('%d', to))
end
local function write(from, value)
  call('SETRANGE', key, string.format('%d', from), value)
end

local tail = bytes(-16, -1)
if tail == '' then
  return 0
end
local n, size = 0, 0
if #tail == 16 then
  n, size = unpack_('<dd', tail)
end
if n >= 1 and n <= 4096 and size >= 130 + 16 * n and size < 1048576 and size % 1 == 0 then
  tail = bytes(-size, -1)
end
if #tail ~= size or not string.match(tail, '^[pr]%d+', 113 + 16 * n) then
  return redis.error_reply('WRONGSTATE the string at this key is not a log of windowpane')
end
local _, _, count, first, width, ready = unpack_('<dddddd', tail)
local state = {unpack_('<' .. string.rep('dd', n), tail, 49)}
local units = {}
for unit in string.gmatch(string.sub(tail, 113 + 16 * n, -17), '%a') do
  units[#units + 1] = unit
end

local function entry(i)
  if i < count then
    local text = bytes(i * width, i * width + width - 1)
    if width == 8 then
      return unpack_('<d', text), 1
    end
    local found, cost = unpack_('<dd', text)
    return found, cost
  end
end

-- The first entry of that time, by halves; of equal times any with that cost is as good.
local low, high = first, count
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
for q = 1, n do
  if units[q] == 'p' and low - first >= state[2 * q] then
    more = math.min(more, 4503599627370496 - state[2 * q - 1])
  end
end
for q = 1, n do
  if units[q] == 'p' and low - first >= state[2 * q] then
    state[2 * q - 1] = state[2 * q - 1] + more
  end
end
local actual = estimate + more
local counted = pack('<' .. string.rep('dd', n), unpack(state, 1, 2 * n))
local part = string.sub(tail, 49 + 16 * n, 112 + 16 * n)
if width == 8 and actual ~= 1 then
  -- Each entry has its cost from here on. The string becomes longer, so nothing of the old is left.
  local old, wider = bytes(0, count * 8 - 1), {}
  for i = 0, count - 1 do
    wider[i + 1] = string.sub(old, 1 + 8 * i, 8 + 8 * i) .. pack('<d', i == low and actual or 1)
  end
  wider = table.concat(wider)
  ready = ready > 4 and 4 or ready
  part = string.sub(wider, 1 + 16 * first, 16 * (first + ready))
  part = part .. string.rep('\0', 64 - #part)
  local head = string.sub(tail, 1, 32) .. pack('<dd', 16, ready)
  write(0, wider .. head .. counted .. part .. string.sub(tail, 113 + 16 * n))
elseif width == 16 then
  local place = low - first
  if place < ready then
    part = string.sub(part, 1, 16 * place + 8) .. pack('<d', actual) .. string.sub(part, 16 * place + 17)
  end
  write(16 * low + 8, pack('<d', actual))
  write(16 * count + 48, counted .. part)
end
return 1
