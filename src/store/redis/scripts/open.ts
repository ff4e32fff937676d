/** What kind of store is in the database. */
import { script } from './script.ts'

export const openScript = script(`
-- Marks an empty database as a store, once.
--   ARGV[1] '{quoin}', which is also the name of the mark, ARGV[2] the version of the layout, ARGV[3] partitions
-- Replies with {version, partitions}, or with the number of keys of a database that is not empty and has no mark.
local call = redis.call
local name = ARGV[1]
if call('EXISTS', name) == 0 then
  local size = call('DBSIZE')
  if size > 0 then return size end
  call('HSET', name, 'version', ARGV[2], 'partitions', ARGV[3])
end
return call('HMGET', name, 'version', 'partitions')
`)
