-- The exact log: what was accepted and still counts, oldest first, in one string.
--
-- KEYS[1]  entries, all of one width, and the tail.
--          An entry is its time and its cost, both doubles; or its time alone, as long as all costs
--          are 1.
--          The tail is doubles and a part of the entries:
--            latest    the latest recorded time
--            count     of the entries
--            first     of those that still count, from 0: those before it are dropped now and then
--            used      what the first quota counted at the latest time, and
--            oldest    the entry from which on it counted, from 0 at `first`
--            expires   until when the key lives at least
--            base      the first entry of the part below
--            width     of an entry, in bytes: 8 or 16
--            shape     a number that stands for the units and windows of the quotas
--            used i    and
--            oldest i  of each further quota
--            part      entries from `base` on, or zeros after them: 64 bytes, so that a limiter of one
--                      quota finds the oldest entry in the tail
--            units     the sum of 2^(i-1) of each quota i that counts permits
--            n         the number of quotas
--            size      of the tail, in bytes: 160 and 16 for each further quota
-- ARGV[1]  packed doubles: cost, the longest window, the first limit, whether this is one quota of
--          permits (1), one of requests (2) or several (0), the shape, the longest life of a key in
--          ms, the number of quotas, the units, and of each quota whether it counts requests, its
--          limit, its window in microseconds
-- ARGV[2]  'peek', or nothing to acquire
-- returns  packed doubles: the wait or 0 if allowed or -1 if no wait helps, the time recorded under,
--          the quota that denied it from 0, the wait until more remains or -1, and what is left of
--          each quota
--
-- Times are clamped to the latest, so they come in order. A new entry overwrites the tail, and a new
-- tail follows it: one read and one write, whatever the number of entries and of those that expire.
-- Integers only, all below 2^53: limits are at most 2^51 and what is used is at most 2^52.
local call, key, pack, unpack_ = redis.call, KEYS[1], struct.pack, struct.unpack
local cost, longest, limit, kind, shape = unpack_('<ddddd', ARGV[1])
local peek = ARGV[2]
local ZEROS = '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'

local size, from = 160, '-160'
if kind == 0 then
  size = 144 + 16 * unpack_('<d', ARGV[1], 49)
  from = string.format('%d', -size)
end
local tail = call('GETRANGE', key, from, '-1')
local at, latest, count, first, used, oldest = now, -longest, 0, 0, 0, 0
local expires, base, width, found = 0, 0, 8, shape
local empty = tail == ''
if #tail == size then
  latest, count, first, used, oldest, expires, base, width, found = unpack_('<ddddddddd', tail)
end
local same = empty or found == shape and #tail == size

if not same then
  -- Written under other quotas: what it counted is counted again below.
  local n, bytes = 0, 0
  if #tail >= 16 then
    n, bytes = unpack_('<dd', tail, #tail - 15)
  end
  if n >= 1 and n <= 4096 and n % 1 == 0 and bytes == 144 + 16 * n then
    tail = call('GETRANGE', key, string.format('%d', -bytes), '-1')
  end
  if #tail == bytes then
    latest, count, first, used, oldest, expires, base, width = unpack_('<dddddddd', tail)
  end
  if #tail ~= bytes or width ~= 8 and width ~= 16 or call('STRLEN', key) ~= count * width + bytes then
    return redis.error_reply('WRONGSTATE the string at this key is not a log of windowpane')
  end
end
if not empty then
  -- The time that counts: a clock that steps back creates no capacity.
  if latest > now then
    at = latest
  end
  empty = at - latest >= longest
end

-- The short way, which answers as the long one below would: one quota, and of the entries that count
-- the oldest is all that is asked for. It makes no functions and no tables, which cost more than all
-- else here.
if kind > 0 and same then
  local by_request = kind == 2
  local charge = by_request and 1 or cost
  if empty and limit > 0 then
    if not peek then
      local entry = cost == 1 and pack('<d', now) or pack('<dd', now, cost)
      local life, most = math.floor(longest / 800) + 2, unpack_('<d', ARGV[1], 41)
      life = life < most and life or most
      expires = now - now % 1000 + 1000 * life
      local head = pack('<ddddddddd', now, 1, 0, charge, 0, expires, 0, #entry, shape)
      local part = entry .. string.sub(ZEROS, #entry + 1)
      call('PSETEX', key, string.format('%d', life), entry .. head .. part .. pack('<ddd', 2 - kind, 1, 160))
    end
    return pack('<ddddd', 0, now, 0, longest, limit - charge)
  elseif not empty and limit > 0 then
    -- The part is read where it stands. The newest entry counts, so there is always one.
    local used, first, base, buffer, is_new = used, first, base, tail, false
    local place, stop, time, permits = 73 + (first - base) * width, 137, nil, 1
    while true do
      if place >= stop then
        local to = first * width + (is_new and 4096 or 64)
        to = string.format('%d', (to < count * width and to or count * width) - 1)
        buffer = call('GETRANGE', key, string.format('%d', first * width), to)
        place, stop, is_new = 1, #buffer + 1, true
      end
      if width == 8 then
        time = unpack_('<d', buffer, place)
      else
        time, permits = unpack_('<dd', buffer, place)
      end
      if time == 0 and not is_new then
        -- Here the part ends.
        place = stop
      elseif at - time < longest then
        break
      else
        used = used - (by_request and 1 or permits)
        first, place = first + 1, place + width
      end
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
        local rest
        if is_new or expires < now + longest then
          local part = string.sub(tail, 73, 136)
          if is_new then
            base, part = first, string.sub(buffer, place, place + 63)
            part = part .. string.sub(ZEROS, #part + 1)
          end
          if expires < now + longest then
            local life, most = math.floor(longest / 800) + 2, unpack_('<d', ARGV[1], 41)
            life = life < most and life or most
            expires = now - now % 1000 + 1000 * life
            call('PEXPIRE', key, string.format('%d', life))
          end
          rest = pack('<ddddd', 0, expires, base, width, shape) .. part .. string.sub(tail, 137)
        else
          rest = string.sub(tail, 33)
        end
        local place = string.format('%d', count * width)
        count, used = count + 1, used + charge
        if width == 8 then
          call('SETRANGE', key, place, pack('<ddddd', now, now, count, first, used) .. rest)
        else
          call('SETRANGE', key, place, pack('<dddddd', now, cost, now, count, first, used) .. rest)
        end
        return pack('<ddddd', 0, now, 0, wait, -excess)
      end
    end
  end
end

local most, quotas, units = unpack_('<ddd', ARGV[1], 41)
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

local counts = {used, oldest}

-- The tail of a string of `count` entries.
local function tail_of(count, part)
  local head = pack('<ddddddddd', at, count, first, counts[1], counts[2], expires, base, width, shape)
  for i = 3, #counts do
    head = head .. pack('<d', counts[i])
  end
  head = head .. part .. string.sub(ZEROS, #part + 1)
  return head .. pack('<ddd', units, quotas, 144 + 16 * quotas)
end

-- Writes what still counts and the request into a new string.
local function write_again()
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
  local life = life()
  first, base, width = 0, 0, wide
  call('PSETEX', key, life, value .. tail_of(#value / wide, string.sub(value, 1, 64)))
end

-- The server's clock was set back. In two windows all of this is over, whatever it says then.
local function shorten_life()
  if at - now > longest and call('PTTL', key) > most then
    call('PEXPIRE', key, string.format('%d', most))
    call('SETRANGE', key, string.format('%d', count * width + 40), pack('<d', 0))
  end
end

-- Several quotas, or others than before, or what is rare.
local told_of = {unpack_('<' .. string.rep('ddd', quotas), ARGV[1], 65)}
for q = 2, same and not empty and quotas or 1 do
  counts[2 * q - 1], counts[2 * q] = unpack_('<dd', tail, 41 + 16 * q)
end
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
  local requests = told_of[3 * q - 2] == 1
  local limit, window = told_of[3 * q - 1], told_of[3 * q]
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
  local requests = told_of[3 * q - 2] == 1
  local used = counts[2 * q - 1]
  if told == 0 then
    used = used + (requests and 1 or cost)
    counts[2 * q - 1] = used
  end
  local left = told_of[3 * q - 1] - used
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
  local limit, requests = told_of[3 * q - 1], told_of[3 * q - 2] == 1
  local wanted = (requests and permits) and 1 or remaining + 1
  local excess = counts[2 * q - 1] + wanted - limit
  if wanted > limit or more < 0 then
    more = -1
  elseif excess > 0 then
    local time = times[q]
    if not requests and excess > costs[q] or requests and excess > 1 then
      time = frees(counts[2 * q], excess, requests)
    end
    if time + told_of[3 * q] - now > more then
      more = time + told_of[3 * q] - now
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
  if empty or not same or width == 8 and cost ~= 1 or first >= 64 and first * 3 >= count then
    write_again()
  else
    if at > now or expires < now + longest then
      call('PEXPIRE', key, life())
    end
    base = first
    local entry = width == 8 and pack('<d', at) or pack('<dd', at, cost)
    call('SETRANGE', key, string.format('%d', count * width), entry .. tail_of(count + 1, ''))
  end
else
  shorten_life()
end
return reply
