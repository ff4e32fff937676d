/** Rows of a sorted set between two places. */
import { script } from './script.ts'

export const rowsScript = script(`
-- Rows of a sorted set, by the ranks of the places they lie between.
--   ARGV[1] name of the sorted set
--   ARGV[2] '' for no lowest place, 's' for a score, 'm' for a member of a score; 'S' and 'M' without the place itself
--   ARGV[3] its score, ARGV[4] its member; ARGV[5] to ARGV[7] the same for the highest
--   ARGV[8] '1' from the highest down, ARGV[9] rows to pass over, ARGV[10] how many rows
--   ARGV[11] name of a hash with a record for each member, if there is one
-- Replies with member, score, …, or member, score, record, …; always upwards.
local call, byte, floor = redis.call, string.byte, math.floor
local name = ARGV[1]

-- Lua compares strings by the locale.
local function before(a, b)
  local la, lb = #a, #b
  for i = 1, math.min(la, lb) do
    local x, y = byte(a, i), byte(b, i)
    if x ~= y then return x < y end
  end
  return la < lb
end

-- How many rows are below a place; through it, with the place itself.
local function rank(score, member, through)
  if not member then return call('ZCOUNT', name, '-inf', through and score or '(' .. score) end
  local own = call('ZSCORE', name, member)
  if own and tonumber(own) == tonumber(score) then
    local at = call('ZRANK', name, member)
    return through and at + 1 or at
  end
  local low = call('ZCOUNT', name, '-inf', '(' .. score)
  local high = call('ZCOUNT', name, '-inf', score)
  while low < high do
    local middle = floor((low + high) / 2)
    if before(call('ZRANGE', name, middle, middle)[1], member) then low = middle + 1 else high = middle end
  end
  return low
end

local low, high
local lowest, highest = ARGV[2], ARGV[5]
if lowest == '' then low = 0
else low = rank(ARGV[3], (lowest == 'm' or lowest == 'M') and ARGV[4], lowest == 'S' or lowest == 'M') end
if highest == '' then high = call('ZCARD', name)
else high = rank(ARGV[6], (highest == 'm' or highest == 'M') and ARGV[7], highest == 's' or highest == 'm') end

local offset, count = tonumber(ARGV[9]), tonumber(ARGV[10])
local first, last
if ARGV[8] == '1' then
  last = high - 1 - offset
  first = math.max(low, last - count + 1)
else
  first = low + offset
  last = math.min(high - 1, first + count - 1)
end
if first > last then return {} end
local rows = call('ZRANGE', name, first, last, 'WITHSCORES')
if not ARGV[11] then return rows end
local listed = {}
for i = 1, #rows, 2 do
  listed[#listed + 1] = rows[i]
  listed[#listed + 1] = rows[i + 1]
  listed[#listed + 1] = call('HGET', ARGV[11], rows[i])
end
return listed
`)
