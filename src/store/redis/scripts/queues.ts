/**
 * The operations of queues, as a part of `batch.ts`, whose `call`, `unpack_` and `B` it uses. Each takes the place
 * of its arguments in the program, and returns the place after them.
 */
import { EXPIRE_LIMIT, EXPIRED_CLASS, EXPIRED_REASON } from '../../program.ts'

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
    r.state, r.score, r.enqueued, r.attempts, r.class, r.reason, r.extra = unpack_(RECORD, packed)
    return r
  end
  -- extra: the token of a lease, the dependency that is waited for
  local function save(key, item, r)
    call('HSET', 'r' .. key, item, pack(RECORD, r.state, r.score, r.enqueued, r.attempts,
      #r.class, r.class, #r.reason, r.reason, #r.extra, r.extra))
  end
  local function waiters(key, dependency)
    return 'y' .. pack('<I4', #key) .. key .. dependency
  end
  local function move(key, item, r, state, at, extra)
    if r.state == WAITING then call('SREM', waiters(key, r.extra), item) end
    if r.state ~= state then call('ZREM', SETS[r.state] .. key, item) end
    call('ZADD', SETS[state] .. key, at, item)
    r.state = state
    r.extra = extra or ''
    if state == WAITING then call('SADD', waiters(key, r.extra), item) end
    save(key, item, r)
  end
  local function over(key, state, now)
    return call('ZRANGEBYSCORE', SETS[state] .. key, '-inf', now, 'LIMIT', '0', '${EXPIRE_LIMIT}')
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
  q[32] = function(at)
    local key, item, score, now, next = unpack_('<I4c0I4c0dd', B, at)
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
  q[33] = function(at)
    local key, token, count, till, allowed, now, next = unpack_('<I4c0I4c0dddd', B, at)
    for _, item in ipairs(over(key, LEASED, now)) do
      local r = load(key, item)
      if r.attempts >= allowed then
        r.class, r.reason = '${EXPIRED_CLASS}', '${EXPIRED_REASON}'
        move(key, item, r, DEAD, now)
      else
        move(key, item, r, DUE, r.score)
      end
    end
    for _, item in ipairs(over(key, WAITING, now)) do
      local r = load(key, item)
      move(key, item, r, DUE, r.score)
    end
    local answer = {}
    local due = call('ZRANGEBYSCORE', 'd' .. key, '-inf', now, 'LIMIT', '0', count)
    for _, item in ipairs(due) do
      local r = load(key, item)
      r.attempts = r.attempts + 1
      move(key, item, r, LEASED, till, token)
      answer[#answer + 1] = item
      answer[#answer + 1] = call('HGET', 'r' .. key, item)
    end
    return next, answer
  end
  q[34] = function(at)
    local key, item, till, next = unpack_('<I4c0I4c0d', B, at)
    local r = load(key, item)
    if r and r.state == LEASED then call('ZADD', 'l' .. key, till, item) end
    return next
  end
  q[35] = function(at)
    local key, item, next = unpack_('<I4c0I4c0', B, at)
    local r = load(key, item)
    if r then
      if r.state == WAITING then call('SREM', waiters(key, r.extra), item) end
      call('ZREM', SETS[r.state] .. key, item)
      call('HDEL', 'r' .. key, item)
    end
    return next
  end
  q[36] = function(at)
    local key, item, class, reason, due, next = unpack_('<I4c0I4c0I4c0I4c0d', B, at)
    local r = failed(key, item, class, reason)
    if r then move(key, item, r, DUE, due) end
    return next
  end
  q[37] = function(at)
    local key, item, class, reason, now, next = unpack_('<I4c0I4c0I4c0I4c0d', B, at)
    local r = failed(key, item, class, reason)
    if r then move(key, item, r, DEAD, now) end
    return next
  end
  q[38] = function(at)
    local key, item, class, reason, dependency, till, next = unpack_('<I4c0I4c0I4c0I4c0I4c0d', B, at)
    local r = failed(key, item, class, reason)
    if r then
      r.attempts = math.max(0, r.attempts - 1)
      move(key, item, r, WAITING, till, dependency)
    end
    return next
  end
  q[39] = function(at)
    local key, dependency, next = unpack_('<I4c0I4c0', B, at)
    for _, item in ipairs(call('SMEMBERS', waiters(key, dependency))) do
      local r = load(key, item)
      move(key, item, r, DUE, r.score)
    end
    return next
  end
  q[40] = function(at)
    local key, item, next = unpack_('<I4c0I4c0', B, at)
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
