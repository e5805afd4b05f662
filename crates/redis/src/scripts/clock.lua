-- Stands before every script that reads the time. Tests put another file here; that is the only
-- way to give a script a time, and what ships has no such file.

-- The server's clock in microseconds since 1970: below 2^53 until the year 2255, so a double holds
-- it. It is read once a script, because it moves while a script runs.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
