-- The exact log: what was accepted and still counts, oldest first, in one list.
--
-- KEYS[1]  [shape, latest, used 1, oldest 1, ... used n, oldest n,  time, cost,  time, cost, ...]
--            shape     the windows and units that used and oldest belong to
--            latest    the latest recorded time
--            used i    what quota i counted at that time
--            oldest i  the entry from which on it counted, from 0
-- ARGV     'acquire' or 'peek', cost, shape, longest window, then limit, window and unit
--          ('p' permits, 'r' requests) of each quota; windows in microseconds
-- returns  {1 allowed | 0 denied, time recorded under, wait or -1, quota that denied from 0,
--           wait until more remains or -1, what is left of each quota}
--
-- A list, not a sorted set: times are clamped to the latest, so they come in order anyway. A list
-- needs no unique members, takes a seventh of the memory, and both of its ends are O(1).
-- Integers only, all below 2^53: limits are at most 2^51 and what is used is at most 2^52.
local key, peek, cost = KEYS[1], ARGV[1] == 'peek', tonumber(ARGV[2])
local shape, longest, quotas = ARGV[3], tonumber(ARGV[4]), (#ARGV - 4) / 3

-- The header and the two oldest entries: mostly all that a decision reads.
local buffer = redis.call('LRANGE', key, 0, 5 + 2 * quotas)
local size, latest = 2 + 2 * quotas, tonumber(buffer[2] or 0)
local same = buffer[1] == shape or not buffer[1]
if not same and not (latest and buffer[2] and string.match(buffer[1], '^[pr]%d+')) then
  return redis.error_reply('WRONGSTATE the list at this key is not a log of windowpane')
end
if not same then
  -- Written under other windows: its header has another length, and is made anew below.
  local _, before = string.gsub(buffer[1], '%a', '')
  size = 2 + 2 * before
end

-- The time that counts: a clock that steps back creates no capacity.
local at = math.max(now, latest)
local empty = not buffer[1] or at - latest >= longest

-- Entry i as time and cost, read ahead in growing chunks; past the end it is the request itself.
local offset, from, to, ahead = size, 0, (same and not empty) and (#buffer - size) / 2 or 0, 4
local function entry(i)
  if i < from or i >= to then
    buffer = empty and {} or redis.call('LRANGE', key, size + 2 * i, size + 2 * (i + ahead) - 1)
    offset, from, to = 0, i, i + #buffer / 2
    ahead = math.min(ahead * 4, 512)
    if #buffer == 0 then
      return at, cost
    end
  end
  local place = offset + 2 * (i - from)
  return tonumber(buffer[place + 1]), tonumber(buffer[place + 2])
end

local limit, window, requests, charge, used, oldest = {}, {}, {}, {}, {}, {}
local count = 0
if not empty and not same then
  count = (redis.call('LLEN', key) - size) / 2
end
for q = 1, quotas do
  limit[q], window[q] = tonumber(ARGV[2 + 3 * q]), tonumber(ARGV[3 + 3 * q])
  requests[q] = ARGV[4 + 3 * q] == 'r'
  charge[q] = requests[q] and 1 or cost
  if empty then
    used[q], oldest[q] = 0, 0
  elseif at - latest >= window[q] then
    used[q], oldest[q] = 0, (redis.call('LLEN', key) - size) / 2
  else
    local sum, first = 0, 0
    if same then
      sum, first = tonumber(buffer[1 + 2 * q]), tonumber(buffer[2 + 2 * q])
    else
      for i = 0, count - 1 do
        local _, permits = entry(i)
        sum = sum + (requests[q] and 1 or permits)
      end
    end
    used[q], oldest[q] = sum, first
  end
end

-- What was accepted at `at - window` is gone. The newest entry counts, or this was settled above.
if not empty then
  for q = 1, quotas do
    if at - latest < window[q] then
      local sum, first = used[q], oldest[q]
      local time, permits = entry(first)
      while at - time >= window[q] do
        sum, first = sum - (requests[q] and 1 or permits), first + 1
        time, permits = entry(first)
      end
      used[q], oldest[q] = sum, first
    end
  end
end

-- The wait, from `now`, until `wanted` more fit into quota q.
local function wait(q, wanted)
  local excess = used[q] + wanted - limit[q]
  if excess <= 0 then
    return 0
  end
  local i, time, permits = oldest[q]
  if requests[q] then
    time = entry(i + excess - 1)
  else
    repeat
      time, permits = entry(i)
      excess, i = excess - permits, i + 1
    until excess <= 0
  end
  return time + window[q] - now
end

-- Denied by whoever has the longest wait, of equals by the first; no wait helps a limit of 0.
local told, denier = 0, 0
for q = 1, quotas do
  if limit[q] == 0 then
    if told >= 0 then
      told, denier = -1, q - 1
    end
  elseif told >= 0 and used[q] + charge[q] > limit[q] then
    local longer = wait(q, charge[q])
    if longer > told then
      told, denier = longer, q - 1
    end
  end
end
local allowed = told == 0

local left, permits, calls = {}, nil, nil
for q = 1, quotas do
  if allowed then
    used[q] = used[q] + charge[q]
  end
  left[q] = math.max(limit[q] - used[q], 0)
  if requests[q] then
    calls = math.min(calls or left[q], left[q])
  else
    permits = math.min(permits or left[q], left[q])
  end
end

-- When the largest cost that fits becomes larger: when each quota has room for it.
local remaining = permits or calls
if calls == 0 then
  remaining = 0
end
local more = 0
for q = 1, quotas do
  local wanted = (requests[q] and permits) and 1 or remaining + 1
  if wanted > limit[q] or more < 0 then
    more = -1
  else
    more = math.max(more, wait(q, wanted))
  end
end

if allowed and not peek then
  local gone = oldest[1]
  for q = 2, quotas do
    gone = math.min(gone, oldest[q])
  end
  local header = {}
  for q = quotas, 1, -1 do
    header[#header + 1] = oldest[q] - gone
    header[#header + 1] = used[q]
  end
  header[#header + 1] = at
  header[#header + 1] = shape
  -- The entry first: the server refuses it if memory is full, and then nothing was written.
  redis.call('RPUSH', key, at, cost)
  if empty then
    redis.call('LTRIM', key, -2, -1)
  else
    redis.call('LTRIM', key, size + 2 * gone, -1)
  end
  redis.call('LPUSH', key, unpack(header))
  redis.call('PEXPIRE', key, life(at - now + longest, longest))
elseif not peek and at - now > longest then
  -- The server's clock was set back. In two windows all of this is over, whatever it says then.
  local most = life(2 * longest, longest)
  if redis.call('PTTL', key) > most then
    redis.call('PEXPIRE', key, most)
  end
end

return {allowed and 1 or 0, at, told, denier, more, unpack(left)}
