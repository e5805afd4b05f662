-- Stands before the probe of each algorithm, which tries every command that the algorithm calls.
--
-- KEYS[1]  a key of the probe's own
-- returns  a line for each command that failed: its name and the error
local key, failed = KEYS[1], {}
local function try(command, ...)
  local reply = redis.pcall(command, ...)
  if type(reply) == 'table' and reply.err then
    failed[#failed + 1] = command .. ' ' .. reply.err
  end
end
try('time')
