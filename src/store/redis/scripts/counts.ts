/** How many items of a queue are in which state. */
import { script } from './script.ts'

export const countsScript = script(`
-- Counts of a queue.
--   ARGV[1] prefix of the partition, ARGV[2] key of the queue
-- Replies with the numbers of items that are due, leased, waiting and dead, and the record of the first that is due.
local P, key, call = ARGV[1], ARGV[2], redis.call
local head = call('ZRANGE', P .. 'd' .. key, '0', '0')[1]
return {
  call('ZCARD', P .. 'd' .. key),
  call('ZCARD', P .. 'l' .. key),
  call('ZCARD', P .. 'w' .. key),
  call('ZCARD', P .. 'x' .. key),
  head and call('HGET', P .. 'r' .. key, head) or false
}
`)
