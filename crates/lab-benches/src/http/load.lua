-- What wrk sends, and how it tells what came of it.
--   pool    a GET with one of 10,000 API keys in turn
--   new     a GET with an API key that nobody has used before
--   check   beside either: count the answers by status, which slows the generator down

local POOL = 10000

local threads = {}

function setup(thread)
   table.insert(threads, thread)
   thread:set("number", #threads)
end

function init(args)
   local which = args[1]
   local keyed = function(key)
      local headers = { ["Host"] = wrk.headers["Host"], ["x-api-key"] = key }
      return wrk.format("GET", "/", headers)
   end

   if which == "new" then
      -- The request around a key, so that a new one costs the generator little.
      local before, after = keyed("KEY"):match("^(.*)KEY(.*)$")
      local next_key = 0
      -- The time, so that keys are new to a server that was flooded before.
      local unique = string.format("%s-%d-%d-", args[2], os.time(), number)
      request = function()
         next_key = next_key + 1
         return before .. unique .. next_key .. after
      end
   else
      local requests = {}
      for key = 1, POOL do
         requests[key] = keyed("client-" .. key)
      end
      -- Each thread begins elsewhere.
      local next_request = (number * 4801) % POOL
      request = function()
         next_request = next_request % POOL + 1
         return requests[next_request]
      end
   end

   if args[3] == "check" then
      statuses = {}
      response = function(status)
         statuses[status] = (statuses[status] or 0) + 1
      end
   end
end

function done(summary, latency)
   local errors = summary.errors
   local words = {
      "requests=" .. summary.requests,
      "micros=" .. summary.duration,
      "not-ok=" .. errors.status,
      "broken=" .. errors.connect + errors.read + errors.write + errors.timeout,
      "max=" .. latency.max,
   }
   for _, percentile in ipairs({ 50, 90, 99, 99.9 }) do
      table.insert(words, "p" .. percentile .. "=" .. latency:percentile(percentile))
   end
   local counted = {}
   for _, thread in ipairs(threads) do
      for status, count in pairs(thread:get("statuses") or {}) do
         counted[status] = (counted[status] or 0) + count
      end
   end
   for status, count in pairs(counted) do
      table.insert(words, "status-" .. status .. "=" .. count)
   end
   print("told: " .. table.concat(words, " "))
end
