/** URLs of Redis stores. */
import { describe, expect, it } from 'vitest'
import type { QuoinError } from '../../keyspace/index.ts'
import { parseRedisUrl } from './url.ts'

const PLAIN = {
  isCluster: false,
  secure: false,
  username: undefined,
  password: undefined,
  database: 0,
  partitions: undefined
}

describe('URLs', () => {
  it.each([
    ['redis://localhost', { servers: [{ host: 'localhost', port: 6379 }] }],
    ['redis://localhost:7000/3', { servers: [{ host: 'localhost', port: 7000 }], database: 3 }],
    ['redis://localhost/', { servers: [{ host: 'localhost', port: 6379 }] }],
    ['redis://[::1]:7000', { servers: [{ host: '::1', port: 7000 }] }],
    [
      'rediss://me:p%40ss@db.example:1',
      { secure: true, username: 'me', password: 'p@ss', servers: [{ host: 'db.example', port: 1 }] }
    ],
    ['redis://:secret@h', { password: 'secret', servers: [{ host: 'h', port: 6379 }] }],
    [
      'redis-cluster://a:1,b:2,[::1]:3?partitions=64',
      {
        isCluster: true,
        servers: [
          { host: 'a', port: 1 },
          { host: 'b', port: 2 },
          { host: '::1', port: 3 }
        ],
        partitions: 64
      }
    ],
    [
      'rediss-cluster://u:p@a',
      {
        isCluster: true,
        secure: true,
        username: 'u',
        password: 'p',
        servers: [{ host: 'a', port: 6379 }]
      }
    ]
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
    'redis://a#b',
    'redis://user@a',
    'redis://user:pa@ss@a',
    'redis://u:%zz@a',
    'redis://::1:6379',
    'redis-cluster://a/1',
    'redis-cluster://a,,b',
    'redis-cluster://a?partitions=0',
    'redis-cluster://a?partitions=1025',
    'redis-cluster://a?slots=2'
  ])('%s is refused with an example', url => {
    expect(() => parseRedisUrl(url)).toThrow(
      expect.objectContaining({
        code: 'ERR_STORE_URL',
        message: expect.stringMatching(/redis(-cluster)?:\/\/user/)
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
