-- What the log calls for an allowance on a busy key, and nothing else: it holds 60 entries.
local call, key = redis.call, KEYS[1]
local time, buffer = call('TIME'), call('LRANGE', key, '0', '4')
local header = 'five doubles and a shape: of 49 bytes together.'
if buffer[1] then
  call('RPUSH', key, 'a double')
  call('LSET', key, '1', header)
  call('LTRIM', key, '1', '-1')
else
  call('RPUSH', key, header)
  for _ = 1, 60 do
    call('RPUSH', key, 'a double')
  end
  call('PEXPIRE', key, 60000)
end
return 'five doubles, as they are answered: 40 B'
