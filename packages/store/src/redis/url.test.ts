/** URLs of Redis stores. */

import type { QuoinError } from '@quoin/primitives'
import { describe, expect, it } from 'vitest'
import { parseRedisUrl } from './url.ts'

const PLAIN = {
  secure: false,
  username: undefined,
  password: undefined,
  database: 0,
  replicas: 0
}

describe('URLs', () => {
  it.each([
    ['redis://localhost', { server: { host: 'localhost', port: 6379 } }],
    ['redis://localhost:7000/3', { server: { host: 'localhost', port: 7000 }, database: 3 }],
    ['redis://localhost/', { server: { host: 'localhost', port: 6379 } }],
    ['redis://[::1]:7000', { server: { host: '::1', port: 7000 } }],
    [
      'rediss://me:p%40ss@db.example:1',
      { secure: true, username: 'me', password: 'p@ss', server: { host: 'db.example', port: 1 } }
    ],
    ['redis://h?replicas=2', { server: { host: 'h', port: 6379 }, replicas: 2 }],
    ['rediss://h:1/3?replicas=1', { secure: true, server: { host: 'h', port: 1 }, database: 3, replicas: 1 }],
    ['redis://:secret@h', { password: 'secret', server: { host: 'h', port: 6379 } }]
  ])('%s is right', (url, expected) => {
    expect(parseRedisUrl(url)).toEqual({ ...PLAIN, ...expected })
  })

  it.each([
    'redis:localhost',
    'http://localhost',
    'redis://',
    'redis://localhost:0',
    'redis://localhost:65536',
    'redis://localhost:port',
    'redis://a,b',
    'redis://a/b',
    'redis://a/1/2',
    'redis://a?partitions=2',
    'redis://a?replicas=0',
    'redis://a?replicas=100',
    'redis://a?replicas=1&replicas=2',
    'redis://a#b',
    'redis://user@a',
    'redis://user:pa@ss@a',
    'redis://u:%zz@a',
    'redis://::1:6379'
  ])('%s is refused with an example', url => {
    expect(() => parseRedisUrl(url)).toThrow(
      expect.objectContaining({
        code: 'ERR_STORE_URL',
        message: expect.stringContaining('redis://user')
      })
    )
  })

  it.each(['redis-cluster://a:1,b:2', 'rediss-cluster://u:p@a?partitions=4'])('%s is refused', url => {
    expect(() => parseRedisUrl(url)).toThrow(
      expect.objectContaining({
        code: 'ERR_STORE_URL',
        message: expect.stringMatching(/Redis Cluster.*redis:\/\/user.*synchronous replication/)
      })
    )
  })

  it('with passwords are not repeated in errors', () => {
    try {
      parseRedisUrl('redis://user:secret-word@host:99999')
      expect.unreachable()
    } catch (error) {
      expect(JSON.stringify([(error as QuoinError).message, (error as QuoinError).details])).not.toContain(
        'secret-word'
      )
    }
  })
})
