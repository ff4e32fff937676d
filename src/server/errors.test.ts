/** Errors as strangers see them. */
import { expect, it } from 'vitest'
import { QuoinError } from '../keyspace/index.ts'
import { httpError } from './errors.ts'

it('wrong questions are told what is wrong', () => {
  const error = new QuoinError('ERR_TXO_EVENT', 'no declared type of event: x', { event: 'x' })
  expect(httpError(error)).toEqual({
    status: 400,
    headers: {},
    body: {
      status: 'error',
      code: 'ERR_TXO_EVENT',
      message: 'no declared type of event: x',
      description: 'no declared type of event: x',
      details: { event: 'x' }
    }
  })
})

it.each([
  new Error('/secret/path'),
  new QuoinError('ERR_STORE_CORRUPT', '/secret/path', { directory: '/secret/path' }),
  new QuoinError('ERR_STORE_CONNECTION', 'redis://10.0.0.1 /secret/path'),
  new QuoinError('ERR_STORE_FULL', '/secret/path is full'),
  'text'
])('what is wrong inside stays there: %s', error => {
  const { status, body } = httpError(error)
  expect(status).toBeGreaterThanOrEqual(500)
  expect(JSON.stringify(body)).not.toContain('secret')
})

it('what may be tried again says when', () => {
  const { status, headers } = httpError(new QuoinError('ERR_RATE_LIMIT', 'too many', { seconds: 1.2 }))
  expect([status, headers]).toEqual([429, { 'retry-after': '2' }])
})
