/** The journal of a partition: batches that began here and have parts elsewhere. See `journal.ts` one folder up. */
import { script } from './script.ts'

export const entriesScript = script(`
-- Entries of the journal. Their numbers are the times they were made at, in microseconds.
--   ARGV[1] prefix of the partition, ARGV[2] at least so many seconds old, ARGV[3] at most so many
-- Replies with the lowest number in the journal, then number, parts, …, the lowest number first.
local P, call = ARGV[1], redis.call
local numbers = call('ZRANGE', P .. 't', '0', tonumber(ARGV[3]) - 1)
local time = call('TIME')
local latest = time[1] * 1e6 + time[2] - tonumber(ARGV[2]) * 1e6
local entries = {numbers[1] or false}
for _, number in ipairs(numbers) do
  if tonumber(number) <= latest then
    entries[#entries + 1] = number
    entries[#entries + 1] = call('HGET', P .. 'j', number)
  end
end
return entries
`)

export const finishScript = script(`
-- Takes an entry out of the journal: all its parts are applied.
--   ARGV[1] prefix of the partition, ARGV[2] its number
redis.call('HDEL', ARGV[1] .. 'j', ARGV[2])
redis.call('ZREM', ARGV[1] .. 't', ARGV[2])
return false
`)
