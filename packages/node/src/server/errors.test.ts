/** Errors as strangers see them. */

import { QuoinError } from '@quoin/primitives'
import { expect, it } from 'vitest'
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

it.each([
  ['ERR_RATE_LIMIT', 429, { seconds: 1.2 }, '2'],
  ['ERR_UNAVAILABLE', 503, { seconds: 10 }, '10'],
  ['ERR_INTERPRETER_BUSY', 503, { seconds: 7 }, '7'],
  ['ERR_PLUGIN_UNAVAILABLE', 503, { seconds: 3 }, '3'],
  ['ERR_PLUGIN_UNAVAILABLE', 503, {}, '1'],
  ['ERR_STALE_READ', 503, {}, '1']
] as const)('%s may be tried again, and says when', (code, status, details, after) => {
  const error = httpError(new QuoinError(code, 'not at the moment', details))
  expect([error.status, error.headers]).toEqual([status, { 'retry-after': after }])
})
