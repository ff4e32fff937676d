/** Commits a batch, or the part of one that is in a partition. See `program.ts` for what everything means. */
import { QUEUES } from './queues.ts'
import { script } from './script.ts'

const CHECKS = `
-- The top bit of the length is not of it.
local at, stop = 5, 5 + unpack_('<I4', B) % 0x80000000
local index = 0
while at < stop do
  local code = byte(B, at)
  local ok, key, second, third
  if code == 1 then
    key, second, at = unpack_('<I4c0I4c0', B, at + 1)
    ok = call('GET', P .. 'v' .. key) == second
  elseif code == 2 then
    key, at = unpack_('<I4c0', B, at + 1)
    ok = call('EXISTS', P .. 'v' .. key) == 0
  elseif code == 3 then
    key, second, third, at = unpack_('<I4c0I4c0I4c0', B, at + 1)
    ok = call('HGET', P .. 'h' .. key, second) == third
  elseif code == 5 then
    key, second, third, at = unpack_('<I4c0I4c0d', B, at + 1)
    local score = call('ZSCORE', P .. 'z' .. key, second)
    ok = score and tonumber(score) == third
  elseif code == 9 then
    key, second, third, at = unpack_('<I4c0I4c0I4c0', B, at + 1)
    queue = queue or queues()
    ok = queue.held(key, second, third)
  else
    key, second, at = unpack_('<I4c0I4c0', B, at + 1)
    if code == 4 then
      ok = call('HEXISTS', P .. 'h' .. key, second) == 0
    elseif code == 6 then
      ok = not call('ZSCORE', P .. 'z' .. key, second)
    elseif code == 7 then
      ok = call('SISMEMBER', P .. 's' .. key, second) == 1
    else
      ok = call('SISMEMBER', P .. 's' .. key, second) == 0
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
 * Most of what a command costs is the call. So a long program, which is many batches in one, gathers the fields and
 * scores it adds by key, until an operation takes something away. For a short one the tables cost more than they save.
 */
const OPERATIONS = `
local size = #B
local gathers = size > ${16 * 1024}
local scores, fields = {}, {}

local function flush(all, command, count, index)
  for key, args in pairs(all) do
    local added = call(command, unpack(args))
    if added > 0 and call(count, args[1]) == added then call('ZADD', P .. index, '0', key) end
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
  if code == 22 then
    key, second, third, at = unpack_('<I4c0I4c0d', B, at + 1)
    if gathers then
      if gather(scores, Z, key, third, second) then flushScores() end
    else
      local name = Z .. key
      if call('ZADD', name, third, second) == 1 and call('ZCARD', name) == 1 then
        call('ZADD', P .. 'Z', '0', key)
      end
    end
  elseif code == 18 then
    key, second, third, at = unpack_('<I4c0I4c0I4c0', B, at + 1)
    if gathers then
      if gather(fields, H, key, second, third) then flushFields() end
    else
      local name = H .. key
      if call('HSET', name, second, third) == 1 and call('HLEN', name) == 1 then
        call('ZADD', P .. 'H', '0', key)
      end
    end
  elseif code == 16 then
    key, second, at = unpack_('<I4c0I4c0', B, at + 1)
    call('SET', P .. 'v' .. key, second)
    call('ZADD', P .. 'V', '0', key)
  elseif code == 17 then
    key, at = unpack_('<I4c0', B, at + 1)
    if call('DEL', P .. 'v' .. key) == 1 then call('ZREM', P .. 'V', key) end
  elseif code == 24 then
    key, second, third, at = unpack_('<I4c0I4c0d', B, at + 1)
    if gathers then flushScores() end
    answers = answers or {}
    answers[#answers + 1] = call('ZINCRBY', Z .. key, third, second)
    call('ZADD', P .. 'Z', '0', key)
  elseif code == 25 then
    key, second, third, at = unpack_('<I4c0I4c0d', B, at + 1)
    if gathers then flushScoresOf(key) end
    local name = Z .. key
    if tonumber(call('ZINCRBY', name, third, second)) ~= 0 then
      if call('ZCARD', name) == 1 then call('ZADD', P .. 'Z', '0', key) end
    else
      call('ZREM', name, second)
      if call('EXISTS', name) == 0 then call('ZREM', P .. 'Z', key) end
    end
  elseif code == 26 then
    key, second, at = unpack_('<I4c0I4c0', B, at + 1)
    if gathers then flushScoresOf(key) end
    local name = Z .. key
    local found = call('ZMSCORE', name, second, '')
    if not found[1] then
      local position = tonumber(found[2] or '0') + 1
      if call('ZADD', name, position, '', position, second) == 2 and call('ZCARD', name) == 2 then
        call('ZADD', P .. 'Z', '0', key)
      end
    end
  elseif code >= 32 then
    queue = queue or queues()
    local answer
    at, answer = queue[code](at + 1)
    if answer then
      answers = answers or {}
      answers[#answers + 1] = answer
    end
  else
    key, second, at = unpack_('<I4c0I4c0', B, at + 1)
    if code == 20 then
      call('SADD', P .. 's' .. key, second)
    elseif code == 21 then
      call('SREM', P .. 's' .. key, second)
    elseif code == 19 then
      if gathers then flushFields() end
      local name = H .. key
      if call('HDEL', name, second) == 1 and call('EXISTS', name) == 0 then call('ZREM', P .. 'H', key) end
    else
      if gathers then flushScores() end
      local name = Z .. key
      if call('ZREM', name, second) == 1 and call('EXISTS', name) == 0 then call('ZREM', P .. 'Z', key) end
    end
  end
end
if gathers then
  flushScores()
  flushFields()
end
`

/** See `commits.ts` for what the journal and the notes of parts are for. */
export const batchScript = script(`
-- Commits a batch or a part of one.
--   ARGV[1] prefix of the partition, ARGV[2] the program
--   A batch with parts in other partitions has also: ARGV[3] those parts, for the journal
--   A part of a batch has also: ARGV[3] '', ARGV[4] its home, ARGV[5] its number in the home's journal,
--     ARGV[6] the number below which the home's batches are all applied
-- Replies with the index of the first check that fails, or else with the answers of the operations, or null without
-- any; a batch with other parts with {its number, the lowest number in the journal, answers…}. A part that is applied
-- already replies with what it answered then; one whose number is below what is remembered replies with 0.
local P, B = ARGV[1], ARGV[2]
local H, Z = P .. 'h', P .. 'z'
local call, unpack_, byte = redis.call, struct.unpack, string.byte
local queue, answers
${QUEUES}
local home, number = ARGV[4], ARGV[5]
if home then
  local low = tonumber(call('HGET', P .. 'b', home) or '0')
  if tonumber(number) < low then return 0 end
  if call('ZADD', P .. 'a' .. home, number, number) == 0 then
    local answered = call('HGET', P .. 'e' .. home, number)
    return answered and cmsgpack.unpack(answered)
  end
  if tonumber(ARGV[6]) > low then call('HSET', P .. 'b', home, ARGV[6]) end
  for _, old in ipairs(call('ZRANGEBYSCORE', P .. 'a' .. home, '-inf', '(' .. ARGV[6], 'LIMIT', '0', '100')) do
    call('ZREM', P .. 'a' .. home, old)
    call('HDEL', P .. 'e' .. home, old)
  end
end
${CHECKS}
if ARGV[3] and not home then
  -- By the clock, so that no number is given twice even by a server that came back without its last writes.
  local time = call('TIME')
  local entry = math.max(tonumber(call('GET', P .. 'c') or '0') + 1, time[1] * 1e6 + time[2])
  entry = string.format('%.0f', entry)
  call('SET', P .. 'c', entry)
  call('HSET', P .. 'j', entry, ARGV[3])
  call('ZADD', P .. 't', entry, entry)
  answers = {entry, call('ZRANGE', P .. 't', '0', '0')[1]}
end
${OPERATIONS}
if home and answers then call('HSET', P .. 'e' .. home, number, cmsgpack.pack(answers)) end
return answers or false
`)
