/** Values or hashes whose keys are in a range. */
import { script } from './script.ts'

export const rangeScript = script(`
-- Values or hashes by the index of their keys.
--   ARGV[1] 'v' for values or 'h' for hashes
--   ARGV[2] lowest key, ARGV[3] highest key, both as ZRANGEBYLEX wants them
--   ARGV[4] '1' from the highest down, ARGV[5] how many, ARGV[6] no more after so many bytes
-- Replies with 1 if there may be more and 0 if not, then key, value, … or key, {field, value, …}, …
local call = redis.call
local isValue = ARGV[1] == 'v'
local index = isValue and 'V' or 'H'
local keys
if ARGV[4] == '1' then
  keys = call('ZREVRANGEBYLEX', index, ARGV[3], ARGV[2], 'LIMIT', '0', ARGV[5])
else
  keys = call('ZRANGEBYLEX', index, ARGV[2], ARGV[3], 'LIMIT', '0', ARGV[5])
end
local kind, limit = ARGV[1], tonumber(ARGV[6])
local rows, bytes = {#keys == tonumber(ARGV[5]) and 1 or 0}, 0
for i, key in ipairs(keys) do
  local value
  if isValue then
    value = call('GET', kind .. key)
    if value then bytes = bytes + #value end
  else
    value = call('HGETALL', kind .. key)
    for _, part in ipairs(value) do bytes = bytes + #part end
  end
  rows[#rows + 1] = key
  rows[#rows + 1] = value
  if bytes > limit and i < #keys then
    rows[1] = 1
    break
  end
end
return rows
`)
