/** The version of the store in the database. */
import { script } from './script.ts'

export const openScript = script(`
-- Marks an empty database as a store, once.
--   ARGV[1] name of the mark, ARGV[2] the version of the layout
-- Replies with the version, or with the number of keys of a database that is not empty and has no mark.
local call = redis.call
local name = ARGV[1]
if call('EXISTS', name) == 0 then
  local size = call('DBSIZE')
  if size > 0 then return size end
  call('HSET', name, 'version', ARGV[2])
end
return call('HGET', name, 'version')
`)
