-- The exact log: what was accepted and still counts, oldest first, in one string.
--
-- KEYS[1]  entries, all of one width, and the tail.
--          An entry is its time and its cost, both doubles; or its time alone, as long as all costs
--          are 1.
--          The tail is doubles, a part of the entries, and the shape:
--            latest    the latest recorded time
--            expires   until when the key lives at least
--            count     of the entries
--            first     of those that still count, from 0: those before it are dropped now and then
--            width     of an entry, in bytes: 8 or 16
--            ready     how many entries stand in the part below
--            used i    what quota i counted at the latest time, and
--            oldest i  the entry from which on it counted, from 0 at `first`: both n times
--            part      the entries from `first` on, 64 bytes, for a limiter of one quota
--            shape     the units and windows that these belong to, and two doubles: n, the number
--                      of quotas, and the size of the tail in bytes
-- ARGV[1]  packed doubles: cost, the longest life of a key in ms, the longest window, the number of
--          quotas, and of each whether it counts requests, its limit, its window in microseconds
-- ARGV[2]  the shape, with its two doubles
-- ARGV[3]  the size of the tail as a negative number
-- ARGV[4]  'peek', or nothing to acquire
-- returns  packed doubles: the wait or 0 if allowed or -1 if no wait helps, the time recorded under,
--          the quota that denied it from 0, the wait until more remains or -1, and what is left of
--          each quota
--
-- Times are clamped to the latest, so they come in order. A new entry overwrites the tail, and a new
-- tail follows it: one read and one write, whatever the number of entries and of those that expire.
-- Integers only, all below 2^53: limits are at most 2^51 and what is used is at most 2^52.
local call, key, pack, unpack_ = redis.call, KEYS[1], struct.pack, struct.unpack
local cost, most, longest, quotas, requests, limit = unpack_('<dddddd', ARGV[1])
local shape, peek = ARGV[2], ARGV[4]
local ZEROS = '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'

local tail = call('GETRANGE', key, ARGV[3], '-1')
local empty = tail == ''
local same = empty or string.sub(tail, 113 + 16 * quotas) == shape
local at, latest, expires, count, first, width, ready, used = now, -longest, 0, 0, 0, 8, 0, 0

if not same then
  -- Written under other quotas: what it counted is counted again below.
  tail = call('GETRANGE', key, '-16', '-1')
  local n, size = 0, 0
  if #tail == 16 then
    n, size = unpack_('<dd', tail)
  end
  if n >= 1 and n <= 4096 and size >= 130 + 16 * n and size < 1048576 and size % 1 == 0 then
    tail = call('GETRANGE', key, string.format('%d', -size), '-1')
  end
  if #tail ~= size or not string.match(tail, '^[pr]%d+', 113 + 16 * n) then
    return redis.error_reply('WRONGSTATE the string at this key is not a log of windowpane')
  end
end
if not empty then
  latest, expires, count, first, width, ready, used = unpack_('<ddddddd', tail)
  -- The time that counts: a clock that steps back creates no capacity.
  if latest > now then
    at = latest
  end
  empty = at - latest >= longest
end

-- The short way, which answers as the long one below would: one quota, and of the entries that count
-- the oldest is all that is asked for. It makes no functions and no tables, which cost more than all
-- else here.
if quotas == 1 and same then
  local by_request = requests == 1
  local charge = by_request and 1 or cost
  if empty and limit > 0 then
    if not peek then
      local entry = cost == 1 and pack('<d', now) or pack('<dd', now, cost)
      local life = math.floor(longest / 800) + 2
      life = life < most and life or most
      expires = now - now % 1000 + 1000 * life
      entry = entry .. pack('<dddddddd', now, expires, 1, 0, #entry, 1, charge, 0) .. entry
        .. string.sub(ZEROS, #entry + 1) .. shape
      call('PSETEX', key, string.format('%d', life), entry)
    end
    return pack('<ddddd', 0, now, 0, longest, limit - charge)
  elseif not empty and limit > 0 then
    -- The part is read where it stands, in the tail. The newest entry counts, so there is always one.
    local buffer, place, left, used, first = tail, 65, ready, used, first
    local time, permits = nil, 1
    while true do
      if left == 0 then
        local to = (first + 8) * width
        to = to < count * width and to or count * width
        buffer, place = call('GETRANGE', key, string.format('%d', first * width), string.format('%d', to - 1)), 1
        left = #buffer / width
      end
      if width == 8 then
        time = unpack_('<d', buffer, place)
      else
        time, permits = unpack_('<dd', buffer, place)
      end
      if at - time < longest then
        break
      end
      used = used - (by_request and 1 or permits)
      first, left, place = first + 1, left - 1, place + width
    end
    local wait, excess, remains = time + longest - now, used + charge - limit, limit - used
    if by_request then
      permits = 1
    end
    if at == now and permits > 0 and remains >= 0 then
      if excess > 0 and excess <= permits then
        return pack('<ddddd', wait, now, 0, wait, remains)
      elseif excess <= 0 and peek then
        return pack('<ddddd', 0, now, 0, wait, -excess)
      elseif excess <= 0 and (width == 16 or cost == 1) and (first < 64 or first * 3 < count) then
        local entry = width == 8 and pack('<d', now) or pack('<dd', now, cost)
        local room = 64 / width
        local part = string.sub(buffer, place, place + (left < room and left or room) * width - 1)
        if left < room and left == count - first then
          part, left = part .. entry, left + 1
        end
        if #part < 64 then
          part = part .. string.sub(ZEROS, #part + 1)
        end
        if expires < now + longest then
          local life = math.floor(longest / 800) + 2
          life = life < most and life or most
          expires = now - now % 1000 + 1000 * life
          call('PEXPIRE', key, string.format('%d', life))
        end
        left = left < room and left or room
        local head = pack('<dddddddd', now, expires, count + 1, first, width, left, used + charge, 0)
        call('SETRANGE', key, string.format('%d', count * width), entry .. head .. part .. shape)
        return pack('<ddddd', 0, now, 0, wait, -excess)
      end
    end
  end
end

local function bytes(from, to)
  return call('GETRANGE', key, string.format('%d', from), string.format('%d', to - 1))
end

-- A key that lives a window longer than this needs no new life. Each life is a quarter longer than
-- needed, so that a busy key gets one four times a window and not with every request. One
-- millisecond more, because the server counts from when the script began.
local function life()
  local life = math.floor((at - now + longest * 1.25) / 1000) + 2
  life = life < most and life or most
  expires = now - now % 1000 + 1000 * life
  return string.format('%d', life)
end

local function padded(part)
  return part .. string.sub(ZEROS, #part + 1)
end

-- Writes what still counts and the request into a new string. `counted` are the quotas' numbers.
local function write_again(counted)
  local old = empty and '' or bytes(first * width, count * width)
  local wide = (width == 16 and not empty or cost ~= 1) and 16 or 8
  if wide ~= width and #old > 0 then
    local wider, one = {}, pack('<d', 1)
    for i = 1, #old, 8 do
      wider[#wider + 1] = string.sub(old, i, i + 7) .. one
    end
    old = table.concat(wider)
  end
  local value = old .. (wide == 8 and pack('<d', at) or pack('<dd', at, cost))
  local n, life = #value / wide, life()
  local part = string.sub(value, 1, 64)
  local head = pack('<dddddd', at, expires, n, 0, wide, math.min(n, 64 / wide))
  call('PSETEX', key, life, value .. head .. counted .. padded(part) .. shape)
end

-- The server's clock was set back. In two windows all of this is over, whatever it says then.
local function shorten_life()
  if at - now > longest and call('PTTL', key) > most then
    call('PEXPIRE', key, string.format('%d', most))
    call('SETRANGE', key, string.format('%d', count * width + 8), pack('<d', 0))
  end
end

-- Several quotas, or others than before, or what is rare.
local format = '<' .. string.rep('dd', quotas)
local told_of = {unpack_('<dddd' .. string.rep('ddd', quotas), ARGV[1])}
local counts = same and not empty and {unpack_(format, tail, 49)} or {}
local live = empty and 0 or count - first

-- Entry i as time and cost, read in growing chunks; past the end it is the request itself.
local buffer, from, to, ahead = '', 0, 0, 4
local function entry(i)
  if i >= live then
    return at, cost
  end
  if i < from or i >= to then
    from, to = i, math.min(i + ahead, live)
    buffer = bytes((first + from) * width, (first + to) * width)
    ahead = math.min(ahead * 4, 512)
  end
  if width == 8 then
    return unpack_('<d', buffer, 1 + (i - from) * 8), 1
  end
  local time, permits = unpack_('<dd', buffer, 1 + (i - from) * 16)
  return time, permits
end

-- The time of the entry with which, from entry i on, `excess` has left.
local function frees(i, excess, requests)
  if requests then
    return (entry(i + excess - 1))
  end
  local time, permits
  repeat
    time, permits = entry(i)
    excess, i = excess - permits, i + 1
  until excess <= 0
  return time
end

-- Each quota by itself: what it counts now, and how long it denies. Denied is by the one that has the
-- longest wait, of equals by the first; no wait helps a limit of 0.
local times, costs = {}, {}
local told, denier = 0, 0
for q = 1, quotas do
  local requests = told_of[2 + 3 * q] == 1
  local limit, window = told_of[3 + 3 * q], told_of[4 + 3 * q]
  local used, oldest, time, permits = 0, 0, at, cost
  if empty then
    -- Nothing to count.
  elseif at - latest >= window then
    oldest = live
  else
    if same then
      used, oldest = counts[2 * q - 1], counts[2 * q]
    else
      for i = 0, live - 1 do
        time, permits = entry(i)
        used = used + (requests and 1 or permits)
      end
    end
    -- What was accepted at `at - window` is gone. The newest entry counts.
    time, permits = entry(oldest)
    while at - time >= window do
      used, oldest = used - (requests and 1 or permits), oldest + 1
      time, permits = entry(oldest)
    end
  end
  counts[2 * q - 1], counts[2 * q], times[q], costs[q] = used, oldest, time, permits
  local excess = used + (requests and 1 or cost) - limit
  if limit == 0 then
    if told >= 0 then
      told, denier = -1, q - 1
    end
  elseif excess > 0 and told >= 0 then
    if not requests and excess > permits or requests and excess > 1 then
      time = frees(oldest, excess, requests)
    end
    if time + window - now > told then
      told, denier = time + window - now, q - 1
    end
  end
end

-- What is left, of all quotas of permits and of all of requests.
local reply, permits, calls = {told, at, denier, 0}, nil, nil
for q = 1, quotas do
  local requests = told_of[2 + 3 * q] == 1
  local used = counts[2 * q - 1]
  if told == 0 then
    used = used + (requests and 1 or cost)
    counts[2 * q - 1] = used
  end
  local left = told_of[3 + 3 * q] - used
  if left < 0 then
    left = 0
  end
  reply[4 + q] = left
  if requests then
    calls = (calls and calls < left) and calls or left
  else
    permits = (permits and permits < left) and permits or left
  end
end

-- When the largest cost that fits becomes larger: when each quota has room for it.
local remaining, more = calls == 0 and 0 or permits or calls, 0
for q = 1, quotas do
  local limit, requests = told_of[3 + 3 * q], told_of[2 + 3 * q] == 1
  local wanted = (requests and permits) and 1 or remaining + 1
  local excess = counts[2 * q - 1] + wanted - limit
  if wanted > limit or more < 0 then
    more = -1
  elseif excess > 0 then
    local time = times[q]
    if not requests and excess > costs[q] or requests and excess > 1 then
      time = frees(counts[2 * q], excess, requests)
    end
    if time + told_of[4 + 3 * q] - now > more then
      more = time + told_of[4 + 3 * q] - now
    end
  end
end
reply[4] = more

reply = pack('<dddd' .. string.rep('d', quotas), unpack(reply))
if peek then
  return reply
end
if told == 0 then
  local gone = counts[2]
  for q = 2, quotas do
    if counts[2 * q] < gone then
      gone = counts[2 * q]
    end
  end
  for q = 1, quotas do
    counts[2 * q] = counts[2 * q] - gone
  end
  first = first + gone
  local counted = pack(format, unpack(counts, 1, 2 * quotas))
  if empty or not same or width == 8 and cost ~= 1 or first >= 64 and first * 3 >= count then
    write_again(counted)
  else
    if at > now or expires < now + longest then
      call('PEXPIRE', key, life())
    end
    local entry = width == 8 and pack('<d', at) or pack('<dd', at, cost)
    local head = pack('<dddddd', at, expires, count + 1, first, width, 0)
    local value = entry .. head .. counted .. padded('') .. shape
    call('SETRANGE', key, string.format('%d', count * width), value)
  end
else
  shorten_life()
end
return reply
