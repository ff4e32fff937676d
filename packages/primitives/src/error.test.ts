import { describe, expect, it } from 'vitest'
import { fetchReasonOf, hasCode, isRemote, isRetryable, QuoinError, reasonOf } from './error.ts'
import { ERRORS, type ErrorCode } from './error-codes.ts'

const failure = (code: ErrorCode): QuoinError => new QuoinError(code, 'failed')

describe('QuoinError', () => {
  it('keeps its cause apart from its details', () => {
    const cause = new Error('ENOENT')
    const error = new QuoinError('ERR_FILE', 'cannot read x', { path: 'x', cause })
    expect(error.cause).toBe(cause)
    expect(error.details).toStrictEqual({ path: 'x' })
  })

  it('has no cause unless one is given', () => {
    const error = new QuoinError('ERR_FILE', 'cannot read x', { cause: undefined })
    expect(Object.hasOwn(error, 'cause')).toBe(false)
    expect(error.details).toStrictEqual({})
  })

  it('is recognised by its code', () => {
    expect(hasCode(failure('ERR_FILE'), 'ERR_FILE')).toBe(true)
    expect(hasCode(failure('ERR_FILE'), 'ERR_USAGE')).toBe(false)
    expect(hasCode({ code: 'ERR_FILE' }, 'ERR_FILE')).toBe(false)
  })
})

describe('the table of codes', () => {
  it.each<[ErrorCode, boolean]>([
    ['ERR_TX_INVALID', false],
    ['ERR_USAGE', false],
    ['ERR_SYNC_PEER', false],
    ['ERR_TX_UNKNOWN', true],
    ['ERR_STALE_READ', true],
    ['ERR_STORE_CONNECTION', true],
    ['ERR_SYNC_UNAVAILABLE', true]
  ])('%s is retryable: %s', (code, expected) => {
    expect(isRetryable(failure(code))).toBe(expected)
  })

  it('says which failures are of another node or service', () => {
    const remote = Object.keys(ERRORS).filter(code => isRemote(failure(code as ErrorCode)))
    expect(remote).toContain('ERR_CHAIN_SOURCE')
    expect(remote).not.toContain('ERR_STORE_CONNECTION')
  })

  it('says nothing about other errors', () => {
    expect([isRetryable(new Error()), isRemote('text')]).toStrictEqual([false, false])
  })
})

describe('reasons', () => {
  it('are messages, or the text of a value that is not an error', () => {
    expect([reasonOf(new Error('late')), reasonOf('text')]).toStrictEqual(['late', 'text'])
  })

  it('of fetch are those of its cause, whose message may be empty', () => {
    const refused = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })
    expect(fetchReasonOf(new TypeError('fetch failed', { cause: new Error('reset') }))).toBe('reset')
    expect(fetchReasonOf(new TypeError('fetch failed', { cause: refused }))).toBe('ECONNREFUSED')
    expect(fetchReasonOf(new TypeError('fetch failed'))).toBe('fetch failed')
    expect(fetchReasonOf(null)).toBe('null')
  })
})
