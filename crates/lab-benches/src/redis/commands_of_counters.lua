-- What the two counters and GCRA call for an allowance on a busy key, and nothing else.
local call, key = redis.call, KEYS[1]
local time, state = call('TIME'), call('GET', key)
if state then
  call('SETRANGE', key, '0', 'a double')
else
  call('PSETEX', key, 60000, 'a double, and another, and five of them.')
end
return 'five doubles, as they are answered: 40 B'
