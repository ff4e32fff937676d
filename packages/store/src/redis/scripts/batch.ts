/** Commits a batch (`operations.ts`). */
import { CODE, unpack } from './encoding.ts'
import { QUEUES } from './queues.ts'
import { script } from './script.ts'

const CHECKS = `
-- The top bit of the length is not of it.
local at, stop = 5, 5 + unpack_('<I4', B) % 0x80000000
local index = 0
while at < stop do
  local code = byte(B, at)
  local ok, key, second, third
  if code == ${CODE.valueIs} then
    key, second, at = ${unpack('valueIs')}
    ok = call('GET', 'v' .. key) == second
  elseif code == ${CODE.valueAbsent} then
    key, at = ${unpack('valueAbsent')}
    ok = call('EXISTS', 'v' .. key) == 0
  elseif code == ${CODE.fieldIs} then
    key, second, third, at = ${unpack('fieldIs')}
    ok = call('HGET', 'h' .. key, second) == third
  elseif code == ${CODE.scoreIs} then
    key, second, third, at = ${unpack('scoreIs')}
    local score = call('ZSCORE', 'z' .. key, second)
    ok = score and tonumber(score) == third
  elseif code == ${CODE.leaseHeld} then
    key, second, third, at = ${unpack('leaseHeld')}
    queue = queue or queues()
    ok = queue.held(key, second, third)
  else
    key, second, at = ${unpack('fieldAbsent')}
    if code == ${CODE.fieldAbsent} then
      ok = call('HEXISTS', 'h' .. key, second) == 0
    elseif code == ${CODE.scoreAbsent} then
      ok = not call('ZSCORE', 'z' .. key, second)
    elseif code == ${CODE.memberPresent} then
      ok = call('SISMEMBER', 's' .. key, second) == 1
    else
      ok = call('SISMEMBER', 's' .. key, second) == 0
    end
  end
  if not ok then return index end
  index = index + 1
end
`

/**
 * A structure whose contents are all new is new, and its key joins the index; one that lost its last contents is gone,
 * and its key leaves it.
 *
 * Most of the cost of a command is the call. So a long batch, which is many batches merged, gathers the fields and
 * scores it adds by key, until an operation takes something away. For a short one the tables cost more than they save.
 */
const OPERATIONS = `
local size = #B
local gathers = size > ${16 * 1024}
local scores, fields = {}, {}

local function flush(all, command, count, index)
  for key, args in pairs(all) do
    local added = call(command, unpack(args))
    if added > 0 and call(count, args[1]) == added then call('ZADD', index, '0', key) end
    all[key] = nil
  end
end
local function gather(all, kind, key, one, two)
  local args = all[key]
  if not args then
    all[key] = {kind .. key, one, two}
    return false
  end
  local n = #args
  args[n + 1] = one
  args[n + 2] = two
  return n > 4000
end
local function flushScores() flush(scores, 'ZADD', 'ZCARD', 'Z') end
local function flushFields() flush(fields, 'HSET', 'HLEN', 'H') end
local function flushScoresOf(key)
  local args = scores[key]
  if not args then return end
  flush({[key] = args}, 'ZADD', 'ZCARD', 'Z')
  scores[key] = nil
end

while at <= size do
  local code = byte(B, at)
  local key, second, third
  if code == ${CODE.zadd} then
    key, second, third, at = ${unpack('zadd')}
    if gathers then
      if gather(scores, 'z', key, third, second) then flushScores() end
    else
      local name = 'z' .. key
      if call('ZADD', name, third, second) == 1 and call('ZCARD', name) == 1 then
        call('ZADD', 'Z', '0', key)
      end
    end
  elseif code == ${CODE.hset} then
    key, second, third, at = ${unpack('hset')}
    if gathers then
      if gather(fields, 'h', key, second, third) then flushFields() end
    else
      local name = 'h' .. key
      if call('HSET', name, second, third) == 1 and call('HLEN', name) == 1 then
        call('ZADD', 'H', '0', key)
      end
    end
  elseif code == ${CODE.set} then
    key, second, at = ${unpack('set')}
    call('SET', 'v' .. key, second)
    call('ZADD', 'V', '0', key)
  elseif code == ${CODE.del} then
    key, at = ${unpack('del')}
    if call('DEL', 'v' .. key) == 1 then call('ZREM', 'V', key) end
  elseif code == ${CODE.zincrby} then
    key, second, third, at = ${unpack('zincrby')}
    if gathers then flushScores() end
    answers = answers or {}
    answers[#answers + 1] = call('ZINCRBY', 'z' .. key, third, second)
    call('ZADD', 'Z', '0', key)
  elseif code == ${CODE.zcounter} then
    key, second, third, at = ${unpack('zcounter')}
    if gathers then flushScoresOf(key) end
    local name = 'z' .. key
    if tonumber(call('ZINCRBY', name, third, second)) ~= 0 then
      if call('ZCARD', name) == 1 then call('ZADD', 'Z', '0', key) end
    else
      call('ZREM', name, second)
      if call('EXISTS', name) == 0 then call('ZREM', 'Z', key) end
    end
  elseif code == ${CODE.append} or code == ${CODE.appendDeferred} then
    key, second, at = ${unpack('append')}
    if gathers then flushScoresOf(key) end
    local name = 'z' .. key
    local found = call('ZMSCORE', name, second, '')
    if not found[1] then
      local position = tonumber(found[2] or '0') + 1
      if call('ZADD', name, position, '', position, second) == 2 and call('ZCARD', name) == 2 then
        call('ZADD', 'Z', '0', key)
      end
    end
  elseif code >= ${CODE.enqueue} then
    queue = queue or queues()
    local answer
    at, answer = queue[code](at + 1)
    if answer then
      answers = answers or {}
      answers[#answers + 1] = answer
    end
  else
    key, second, at = ${unpack('hdel')}
    if code == ${CODE.sadd} then
      call('SADD', 's' .. key, second)
    elseif code == ${CODE.srem} then
      call('SREM', 's' .. key, second)
    elseif code == ${CODE.hdel} then
      if gathers then flushFields() end
      local name = 'h' .. key
      if call('HDEL', name, second) == 1 and call('EXISTS', name) == 0 then call('ZREM', 'H', key) end
    else
      if gathers then flushScores() end
      local name = 'z' .. key
      if call('ZREM', name, second) == 1 and call('EXISTS', name) == 0 then call('ZREM', 'Z', key) end
    end
  end
end
if gathers then
  flushScores()
  flushFields()
end
`

export const batchScript = script(`
-- Commits a batch.
--   ARGV[1] the program
-- Replies with the index of the first check that fails, or else with the answers of the operations, or null without
-- any.
local B = ARGV[1]
local call, unpack_, byte = redis.call, struct.unpack, string.byte
local queue, answers
${QUEUES}
${CHECKS}
${OPERATIONS}
return answers or false
`)
