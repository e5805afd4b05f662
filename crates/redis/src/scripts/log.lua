-- The exact log: what was accepted and still counts, oldest first, in one list.
--
-- KEYS[1]  [header, time, cost, time, cost, ...]; the header is packed doubles and a text:
--            n         of how many quotas it tells
--            latest    the latest recorded time
--            expires   until when the key lives at least
--            used i    what quota i counted at the latest time, and
--            oldest i  the entry from which on it counted, from 0: both n times
--            shape     the units and windows that these belong to
-- ARGV     'acquire' or 'peek', cost, the longest life of a key in ms, longest window, format of
--          the doubles, shape, then limit, window and unit ('p' permits, 'r' requests) of each
--          quota; windows in microseconds
-- returns  {wait or 0 if allowed or -1 if no wait helps, time recorded under, quota that denied
--           from 0, wait until more remains or -1, what is left of each quota}
--
-- A list, not a sorted set: times are clamped to the latest, so they come in order anyway. A list
-- needs no unique members, and both of its ends are O(1).
-- Integers only, all below 2^53: limits are at most 2^51 and what is used is at most 2^52.
local key, cost, most = KEYS[1], ARGV[2] + 0, ARGV[3] + 0
local longest, format, shape = ARGV[4] + 0, ARGV[5], ARGV[6]
local quotas = (#ARGV - 6) / 3

-- The header and the two oldest entries: mostly all that a decision reads.
local buffer = redis.call('LRANGE', key, 0, 4)
local header, state, same = buffer[1], nil, true

-- The short way, which answers as the long one below would: one quota of permits, and the header and
-- the first entry that counts, of the two that were read, are all that is asked for.
if buffer[3] and #ARGV == 9 and ARGV[9] == 'p' and string.sub(header, 41) == shape then
  local n, latest, expires, used = struct.unpack('<dddd', header)
  local limit, time, permits, gone = ARGV[7] + 0, buffer[2] + 0, buffer[3] + 0, 0
  if buffer[5] and now - time >= longest then
    used, time, permits, gone = used - permits, buffer[4] + 0, buffer[5] + 0, 2
  end
  if latest <= now and now - time < longest and permits > 0 and used <= limit and limit > 0 then
    local wait, excess = time + longest - now, used + cost - limit
    if excess > 0 and excess <= permits then
      return {wait, now, 0, wait, limit - used}
    elseif excess <= 0 and ARGV[1] == 'peek' then
      return {0, now, 0, wait, -excess}
    elseif excess <= 0 and expires >= now + longest then
      -- Written in the order of the long way, for the reasons told there.
      redis.call('RPUSH', key, now, cost)
      local value = struct.pack('<ddddd', n, now, expires, used + cost, 0) .. shape
      redis.call('LSET', key, gone, value)
      if gone > 0 then
        redis.call('LTRIM', key, gone, -1)
      end
      return {0, now, 0, wait, -excess}
    end
  end
end

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
local before, from, to, ahead = 1, 0, empty and 0 or (#buffer - 1) / 2, 4
local function entry(i)
  if i < from or i >= to then
    buffer = empty and {} or redis.call('LRANGE', key, 1 + 2 * i, 2 * (i + ahead))
    before, from, to = 0, i, i + #buffer / 2
    ahead = math.min(ahead * 4, 512)
    if #buffer == 0 then
      return at, cost
    end
  end
  local place = before + 2 * (i - from)
  return buffer[place + 1] + 0, buffer[place + 2] + 0
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
  local limit, window = ARGV[4 + 3 * q] + 0, ARGV[5 + 3 * q] + 0
  local requests = ARGV[6 + 3 * q] == 'r'
  local used, oldest, time, permits = 0, 0, at, cost
  if empty then
    -- Nothing to count.
  elseif at - latest >= window then
    oldest = (redis.call('LLEN', key) - 1) / 2
  else
    if same then
      used, oldest = state[2 + 2 * q], state[3 + 2 * q]
    else
      for i = 0, (redis.call('LLEN', key) - 3) / 2 do
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
  local requests = ARGV[6 + 3 * q] == 'r'
  local used = state[2 + 2 * q]
  if told == 0 then
    used = used + (requests and 1 or cost)
    state[2 + 2 * q] = used
  end
  local left = ARGV[4 + 3 * q] - used
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
  local limit, requests = ARGV[4 + 3 * q] + 0, ARGV[6 + 3 * q] == 'r'
  local wanted = (requests and permits) and 1 or remaining + 1
  local excess = state[2 + 2 * q] + wanted - limit
  if wanted > limit or more < 0 then
    more = -1
  elseif excess > 0 then
    local time = times[q]
    if not requests and excess > costs[q] or requests and excess > 1 then
      time = frees(state[3 + 2 * q], excess, requests)
    end
    if time + ARGV[5 + 3 * q] - now > more then
      more = time + ARGV[5 + 3 * q] - now
    end
  end
end
reply[4] = more

if ARGV[1] == 'peek' then
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
  -- The entry first: the server refuses it if memory is full, and then nothing was written. The
  -- header takes the place of the last entry that is gone, or its own.
  if empty then
    redis.call('RPUSH', key, value, at, cost)
    if header then
      redis.call('LTRIM', key, -3, -1)
    end
  else
    redis.call('RPUSH', key, at, cost)
    redis.call('LSET', key, 2 * gone, value)
    if gone > 0 then
      redis.call('LTRIM', key, 2 * gone, -1)
    end
  end
  if life > 0 then
    redis.call('PEXPIRE', key, life)
  end
elseif at - now > longest and redis.call('PTTL', key) > most then
  -- The server's clock was set back. In two windows all of this is over, whatever it says then.
  state[3] = 0
  if same then
    redis.call('LSET', key, 0, struct.pack(format, unpack(state, 1, 3 + 2 * quotas)) .. shape)
  end
  redis.call('PEXPIRE', key, most)
end
return reply
