/** What a raw key is, and how near it comes to being one. */

import { fromHex } from '@quoin/primitives'
import { describe, expect, it } from 'vitest'
import { space } from './keyspace.testing.ts'

const { owners } = space.collections

describe('explain', () => {
  it('names the components, their bytes and their values', () => {
    const explained = space.explain(owners.encode(Uint8Array.of(0xab), 10n, 7))
    expect(explained).toMatchObject({
      found: true,
      keyspace: 'test',
      collection: 'owners',
      spans: [
        { start: 0, end: 2, hex: '027c', text: "0x02 '|'" },
        { start: 2, end: 4, hex: '6162', component: 'owner', codec: 'hex', text: 'ab' },
        { start: 4, end: 5, hex: '7c' },
        { start: 5, end: 7, component: 'pool', text: '10' },
        { start: 7, end: 8 },
        { start: 8, end: 9, component: 'n', text: '7' }
      ]
    })
  })

  it('of a key that fits nothing, names the nearest collection and where it departs', () => {
    expect(space.explain(fromHex('027c6162417c31'))).toEqual({
      found: false,
      nearest: {
        keyspace: 'test',
        collection: 'owners',
        offset: 4,
        expected: "'0'-'9' 'a'-'f' '|'",
        message: "byte 4 is 41, where '0'-'9' 'a'-'f' '|' (owner or the literal '|') must stand"
      }
    })
    expect(space.explain(fromHex('0100000000000000010600'))).toMatchObject({
      nearest: {
        collection: 'ticks',
        offset: 11,
        message: expect.stringMatching(/^it ends at byte 11, where any byte/)
      }
    })
    expect(space.explain(new Uint8Array())).toMatchObject({ found: false, nearest: { offset: 0 } })
  })
})
