-- What the log calls for an allowance on a busy key, and nothing else.
local call, key = redis.call, KEYS[1]
local time, tail = call('TIME'), call('GETRANGE', key, '-160', '-1')
local entry = string.rep('a double', 21)
if #tail == 160 then
  call('SETRANGE', key, '320', entry)
else
  call('PSETEX', key, 60000, string.rep('a double', 40) .. entry)
end
return 'five doubles, as they are answered: 40 B'
