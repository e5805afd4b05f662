-- The exact log: what was accepted and still counts, oldest first, in one list.
--
-- KEYS[1]  [header, entry, entry, ...]
--          an entry is its time, a packed double, and its cost in digits, none for a cost of 1;
--          the header is packed doubles and a text:
--            n         of how many quotas it tells
--            latest    the latest recorded time
--            expires   until when the key lives at least
--            used i    what quota i counted at the latest time, and
--            oldest i  the entry from which on it counted, from 0: both n times
--            shape     the units and windows that these belong to
-- ARGV[1]  packed doubles: cost, the longest life of a key in ms, the longest window, the number of
--          quotas, and of each whether it counts requests, its limit, its window in microseconds
-- ARGV[2]  the shape
-- ARGV[3]  'peek', or nothing to acquire
-- returns  packed doubles: the wait or 0 if allowed or -1 if no wait helps, the time recorded under,
--          the quota that denied it from 0, the wait until more remains or -1, and what is left of
--          each quota
--
-- A list, not a sorted set: times are clamped to the latest, so they come in order anyway. A list
-- needs no unique members, and both of its ends are O(1).
-- Integers only, all below 2^53: limits are at most 2^51 and what is used is at most 2^52.
-- Numbers are packed, and places in the list are texts, so that the short way reads no digits but
-- the clock's and those of a cost above 1, and writes none but that.
local call, key = redis.call, KEYS[1]
local cost, most, longest, quotas, requests, limit = struct.unpack('<dddddd', ARGV[1])
local shape, peek = ARGV[2], ARGV[3]

-- The header and the four oldest entries: mostly all that a decision reads.
local buffer = call('LRANGE', key, '0', '4')
local header, text, state, same = buffer[1], buffer[2], nil, true

-- The short way, which answers as the long one below would: one quota of permits, and the header and
-- the first entry that counts, of those that were read, are all that is asked for.
if text and quotas == 1 and requests == 0 and string.sub(header, 41) == shape then
  local _, latest, expires, used = struct.unpack('<dddd', header)
  local time, gone = struct.unpack('<d', text), 0
  local permits = #text == 8 and 1 or string.sub(text, 9) + 0
  while now - time >= longest and text do
    used, gone = used - permits, gone + 1
    text = buffer[2 + gone]
    if text then
      time, permits = struct.unpack('<d', text), #text == 8 and 1 or string.sub(text, 9) + 0
    end
  end
  if text and latest <= now and permits > 0 and used <= limit and limit > 0 then
    local wait, excess = time + longest - now, used + cost - limit
    if excess > 0 and excess <= permits then
      return struct.pack('<ddddd', wait, now, 0, wait, limit - used)
    elseif excess <= 0 and peek then
      return struct.pack('<ddddd', 0, now, 0, wait, -excess)
    elseif excess <= 0 and expires >= now + longest then
      -- Written in the order of the long way, for the reasons told there.
      local value = struct.pack('<d', now)
      call('RPUSH', key, cost == 1 and value or value .. string.format('%.0f', cost))
      value = struct.pack('<ddddd', 1, now, expires, used + cost, 0) .. shape
      if gone == 0 then
        call('LSET', key, '0', value)
      else
        gone = string.char(48 + gone)
        call('LSET', key, gone, value)
        call('LTRIM', key, gone, '-1')
      end
      return struct.pack('<ddddd', 0, now, 0, wait, -excess)
    end
  end
end

local format = '<ddd' .. string.rep('dd', quotas)
local told_of = {struct.unpack('<dddd' .. string.rep('ddd', quotas), ARGV[1])}
if not header then
  state = {quotas, -longest, 0}
else
  same = string.sub(header, 25 + 16 * quotas) == shape
  if not same then
    -- Written under other quotas: what it counted is counted anew below.
    local n = #header > 24 and struct.unpack('<d', header) or 0
    if n < 1 or not string.match(header, '^[pr]%d+', 25 + 16 * n) then
      return redis.error_reply('WRONGSTATE the list at this key is not a log of windowpane')
    end
  end
  state = {struct.unpack(same and format or '<ddd', header)}
  state[1] = quotas
end

-- The time that counts: a clock that steps back creates no capacity.
local at, latest = now, state[2]
if latest > now then
  at = latest
end
local empty = at - latest >= longest

-- Entry i as time and cost, read ahead in growing chunks; past the end it is the request itself.
local before, from, to, ahead = 1, 0, empty and 0 or #buffer - 1, 4
local function entry(i)
  if i < from or i >= to then
    buffer = empty and {} or call('LRANGE', key, 1 + i, i + ahead)
    before, from, to = 0, i, i + #buffer
    ahead = math.min(ahead * 4, 512)
    if #buffer == 0 then
      return at, cost
    end
  end
  local text = buffer[before + i - from + 1]
  local time = struct.unpack('<d', text)
  return time, #text == 8 and 1 or string.sub(text, 9) + 0
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

-- Each quota by itself: what it counts now, and how long it denies. Denied is by whoever has the
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
    oldest = call('LLEN', key) - 1
  else
    if same then
      used, oldest = state[2 + 2 * q], state[3 + 2 * q]
    else
      for i = 0, call('LLEN', key) - 2 do
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
  state[2 + 2 * q], state[3 + 2 * q], times[q], costs[q] = used, oldest, time, permits
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
  local used = state[2 + 2 * q]
  if told == 0 then
    used = used + (requests and 1 or cost)
    state[2 + 2 * q] = used
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
  local excess = state[2 + 2 * q] + wanted - limit
  if wanted > limit or more < 0 then
    more = -1
  elseif excess > 0 then
    local time = times[q]
    if not requests and excess > costs[q] or requests and excess > 1 then
      time = frees(state[3 + 2 * q], excess, requests)
    end
    if time + told_of[4 + 3 * q] - now > more then
      more = time + told_of[4 + 3 * q] - now
    end
  end
end
reply[4] = more

reply = struct.pack('<dddd' .. string.rep('d', quotas), unpack(reply))
if peek then
  return reply
end
if told == 0 then
  local gone = state[5]
  for q = 2, quotas do
    if state[3 + 2 * q] < gone then
      gone = state[3 + 2 * q]
    end
  end
  for q = 1, quotas do
    state[3 + 2 * q] = state[3 + 2 * q] - gone
  end
  -- A key that lives a window longer than this needs no new life. Each life is a quarter longer
  -- than needed, so that a busy key gets one four times a window and not with every request. One
  -- millisecond more, because the server counts from when the script began.
  local life = 0
  if at > now or state[3] < now + longest then
    life = math.floor((at - now + longest * 1.25) / 1000) + 2
    life = life < most and life or most
    state[3] = now - now % 1000 + 1000 * life
  end
  state[2] = at
  local value = struct.pack(format, unpack(state, 1, 3 + 2 * quotas)) .. shape
  local new = struct.pack('<d', at)
  if cost ~= 1 then
    new = new .. string.format('%.0f', cost)
  end
  -- The entry first: the server refuses it if memory is full, and then nothing was written. The
  -- header takes the place of the last entry that is gone, or its own.
  if empty then
    call('RPUSH', key, value, new)
    if header then
      call('LTRIM', key, '-2', '-1')
    end
  else
    call('RPUSH', key, new)
    call('LSET', key, gone, value)
    if gone > 0 then
      call('LTRIM', key, gone, '-1')
    end
  end
  if life > 0 then
    call('PEXPIRE', key, life)
  end
elseif at - now > longest and call('PTTL', key) > most then
  -- The server's clock was set back. In two windows all of this is over, whatever it says then.
  state[3] = 0
  if same then
    call('LSET', key, 0, struct.pack(format, unpack(state, 1, 3 + 2 * quotas)) .. shape)
  end
  call('PEXPIRE', key, most)
end
return reply
