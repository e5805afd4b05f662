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

local tail = bytes(-160, -1)
if tail == '' then
  return 0
end
local n, size = 0, 0
if #tail >= 16 then
  n, size = unpack_('<dd', tail, #tail - 15)
end
if n > 1 and n <= 4096 and n % 1 == 0 and size == 144 + 16 * n then
  tail = bytes(-size, -1)
end
local latest, count, first, used, oldest, expires, _, width, shape = 0, 0, 0, 0, 0, 0, 0, 0, 0
if #tail == size and size == 144 + 16 * n then
  latest, count, first, used, oldest, expires, _, width, shape = unpack_('<ddddddddd', tail)
end
if width ~= 8 and width ~= 16 or call('STRLEN', key) ~= count * width + size then
  return redis.error_reply('WRONGSTATE the string at this key is not a log of windowpane')
end
local state = {used, oldest}
for i = 3, 2 * n do
  state[i] = unpack_('<d', tail, 49 + 8 * i)
end
local units = unpack_('<d', tail, #tail - 23)
local function of_permits(q)
  return math.floor(units / 2 ^ (q - 1)) % 2 == 1
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
  if of_permits(q) and low - first >= state[2 * q] then
    more = math.min(more, 4503599627370496 - state[2 * q - 1])
  end
end
for q = 1, n do
  if of_permits(q) and low - first >= state[2 * q] then
    state[2 * q - 1] = state[2 * q - 1] + more
  end
end
local actual = estimate + more
local wide = actual ~= 1 and 16 or width
-- Without its part the tail says nothing of entries: the next call reads them where they stand.
local head = pack('<ddddddddd', latest, count, first, state[1], state[2], expires, first, wide, shape)
for i = 3, 2 * n do
  head = head .. pack('<d', state[i])
end
local after = head .. string.rep('\0', 64) .. string.sub(tail, -24)
if wide ~= width then
  -- Each entry has its cost from here on. The string becomes longer, so nothing of the old is left.
  local old, wider = bytes(0, count * 8 - 1), {}
  for i = 0, count - 1 do
    wider[i + 1] = string.sub(old, 1 + 8 * i, 8 + 8 * i) .. pack('<d', i == low and actual or 1)
  end
  write(0, table.concat(wider) .. after)
else
  if width == 16 then
    write(16 * low + 8, pack('<d', actual))
  end
  write(width * count, after)
end
return 1
