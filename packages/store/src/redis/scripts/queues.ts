/**
 * The operations of queues, as a part of `batch.ts`, whose `call`, `unpack_` and `B` it uses. Each takes the place
 * of its arguments in the program, and returns the place after them.
 */
import { CLOCK_REPAIRS, EXPIRE_LIMIT, EXPIRED_CLASS, EXPIRED_REASON } from '../../operations.ts'
import { CODE, unpack } from './encoding.ts'

/** They are rare, so a batch sets them up only when it has one. */
export const QUEUES = `
local function queues()
  local pack = struct.pack
  local DUE, LEASED, WAITING, DEAD = 1, 2, 3, 4
  local SETS = {'d', 'l', 'w', 'x'}
  local RECORD = '<BddI4I4c0I4c0I4c0'

  local function load(key, item)
    local packed = call('HGET', 'r' .. key, item)
    if not packed then return nil end
    local r = {}
    local next
    r.state, r.score, r.enqueued, r.attempts, r.class, r.reason, r.extra, next = unpack_(RECORD, packed)
    if next <= #packed then r.since = unpack_('<d', packed, next) end
    return r
  end
  -- extra: the token of a lease, the dependency that is waited for
  local function save(key, item, r)
    call('HSET', 'r' .. key, item, pack(RECORD, r.state, r.score, r.enqueued, r.attempts,
      #r.class, r.class, #r.reason, r.reason, #r.extra, r.extra) .. (r.since and pack('<d', r.since) or ''))
  end
  local function waiters(key, dependency)
    return 'y' .. pack('<I4', #key) .. key .. dependency
  end
  -- since: when the lease, the wait or the delay before a retry begins; nil of an item that stands at its score
  local function move(key, item, r, state, at, since, extra)
    if r.state == WAITING then call('SREM', waiters(key, r.extra), item) end
    if r.state ~= state then call('ZREM', SETS[r.state] .. key, item) end
    call('ZADD', SETS[state] .. key, at, item)
    r.state = state
    r.since = since
    r.extra = extra or ''
    if state == WAITING then call('SADD', waiters(key, r.extra), item) end
    save(key, item, r)
  end
  local function over(key, state, now)
    return call('ZRANGEBYSCORE', SETS[state] .. key, '-inf', now, 'LIMIT', '0', '${EXPIRE_LIMIT}')
  end
  -- Times in a state that a clock which was ahead has written.
  local function mend(key, state, now)
    local name = SETS[state] .. key
    local later = call('ZREVRANGEBYSCORE', name, '(inf', '(' .. string.format('%.17g', now),
      'WITHSCORES', 'LIMIT', '0', '${CLOCK_REPAIRS}')
    for i = 1, #later, 2 do
      local item = later[i]
      local r = load(key, item)
      if r.since then
        if r.since <= now then return end
        call('ZADD', name, now + (tonumber(later[i + 1]) - r.since), item)
        r.since = now
        save(key, item, r)
      elseif state == DUE and r.enqueued > now and r.score <= r.enqueued then
        r.score = now + (r.score - r.enqueued)
        r.enqueued = now
        call('ZADD', name, r.score, item)
        save(key, item, r)
      end
    end
  end
  local function failed(key, item, class, reason)
    local r = load(key, item)
    if not r or r.state ~= LEASED then return nil end
    r.class, r.reason = class, reason
    return r
  end

  local q = {}
  q.held = function(key, item, token)
    local r = load(key, item)
    return r ~= nil and r.state == LEASED and r.extra == token
  end
  q[${CODE.enqueue}] = function(at)
    local key, item, score, now, next = ${unpack('enqueue', 'at')}
    local r = load(key, item)
    if not r then
      r = {state = DUE, score = score, enqueued = now, attempts = 0, class = '', reason = ''}
      move(key, item, r, DUE, score)
    elseif r.state == DUE and r.attempts == 0 then
      r.score = score
      move(key, item, r, DUE, score)
    end
    return next
  end
  q[${CODE.lease}] = function(at)
    local key, token, count, till, allowed, now, clock, next = ${unpack('lease', 'at')}
    mend(key, LEASED, clock)
    for _, item in ipairs(over(key, LEASED, clock)) do
      local r = load(key, item)
      if r.attempts >= allowed then
        r.class, r.reason = '${EXPIRED_CLASS}', '${EXPIRED_REASON}'
        move(key, item, r, DEAD, now)
      else
        move(key, item, r, DUE, r.score)
      end
    end
    mend(key, WAITING, now)
    for _, item in ipairs(over(key, WAITING, now)) do
      local r = load(key, item)
      move(key, item, r, DUE, r.score)
    end
    mend(key, DUE, now)
    local answer = {}
    local due = call('ZRANGEBYSCORE', 'd' .. key, '-inf', now, 'LIMIT', '0', count)
    for _, item in ipairs(due) do
      local r = load(key, item)
      r.attempts = r.attempts + 1
      move(key, item, r, LEASED, till, clock, token)
      answer[#answer + 1] = item
      answer[#answer + 1] = call('HGET', 'r' .. key, item)
    end
    return next, answer
  end
  q[${CODE.renew}] = function(at)
    local key, item, till, clock, next = ${unpack('renew', 'at')}
    local r = load(key, item)
    if r and r.state == LEASED then move(key, item, r, LEASED, till, clock, r.extra) end
    return next
  end
  q[${CODE.remove}] = function(at)
    local key, item, next = ${unpack('remove', 'at')}
    local r = load(key, item)
    if r then
      if r.state == WAITING then call('SREM', waiters(key, r.extra), item) end
      call('ZREM', SETS[r.state] .. key, item)
      call('HDEL', 'r' .. key, item)
    end
    return next
  end
  q[${CODE.retry}] = function(at)
    local key, item, class, reason, due, now, next = ${unpack('retry', 'at')}
    local r = failed(key, item, class, reason)
    if r then move(key, item, r, DUE, due, now) end
    return next
  end
  q[${CODE.bury}] = function(at)
    local key, item, class, reason, now, next = ${unpack('bury', 'at')}
    local r = failed(key, item, class, reason)
    if r then move(key, item, r, DEAD, now) end
    return next
  end
  q[${CODE.wait}] = function(at)
    local key, item, class, reason, dependency, till, now, next = ${unpack('wait', 'at')}
    local r = failed(key, item, class, reason)
    if r then
      r.attempts = math.max(0, r.attempts - 1)
      move(key, item, r, WAITING, till, now, dependency)
    end
    return next
  end
  q[${CODE.wake}] = function(at)
    local key, dependency, next = ${unpack('wake', 'at')}
    for _, item in ipairs(call('SMEMBERS', waiters(key, dependency))) do
      local r = load(key, item)
      move(key, item, r, DUE, r.score)
    end
    return next
  end
  q[${CODE.revive}] = function(at)
    local key, item, next = ${unpack('revive', 'at')}
    local r = load(key, item)
    if r and r.state == DEAD then
      r.attempts = 0
      move(key, item, r, DUE, r.score)
    end
    return next
  end
  return q
end
`
