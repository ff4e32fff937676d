/** How many items of a queue are in which state. */
import { script } from './script.ts'

export const countsScript = script(`
-- Counts of a queue.
--   ARGV[1] key of the queue
-- Replies with the numbers of items that are due, leased, waiting and dead, and the record of the first that is due.
local key, call = ARGV[1], redis.call
local head = call('ZRANGE', 'd' .. key, '0', '0')[1]
return {
  call('ZCARD', 'd' .. key),
  call('ZCARD', 'l' .. key),
  call('ZCARD', 'w' .. key),
  call('ZCARD', 'x' .. key),
  head and call('HGET', 'r' .. key, head) or false
}
`)
