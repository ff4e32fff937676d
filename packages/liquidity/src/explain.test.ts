/** Raw entries, explained. */

import { fromHex, toHex } from '@quoin/primitives'
import { describe, expect, it } from 'vitest'
import { explainEntry } from './explain.ts'
import { liquidityChain } from './keys.ts'
import { poolOf, positionOf } from './values.testing.ts'

const { pools, positions, lockPositions, totalLiquidity } = liquidityChain.collections
const explain = (key: Uint8Array, value?: Uint8Array) => {
  const explained = explainEntry(key, value, 'chain')
  if (!explained.found) throw new Error(`not found: ${explained.nearest}`)
  return explained.entry
}

describe('a raw entry', () => {
  it('of an upper tick, whose net liquidity is negative', () => {
    const entry = explain(fromHex('01000000000000000105ffffffffffffff38'), fromHex(`0a013512022d35${'2200'}`))
    expect(entry.collection).toBe('ticks')
    expect(entry.spans.map(({ component, text }) => [component, text])).toEqual([
      [undefined, '0x01'],
      ['pool', '1'],
      ['tick', '-200']
    ])
    expect(entry.value).toEqual({
      liquidityGross: '0.000000000000000005',
      liquidityNet: '-0.000000000000000005',
      spreadRewardGrowth: [],
      uptimeGrowth: []
    })
  })

  it('of anything else', () => {
    const pool = explain(pools.encode(7n), pools.value.codec.encode(poolOf(7n)))
    expect(pool.value).toMatchObject({ id: '7', price: expect.stringMatching(/^1\.0{36}$/) })
    const position = explain(positions.encode(7n), positions.value.codec.encode(positionOf(7n)))
    expect(position.value).toMatchObject({
      id: '7',
      lowerTick: '-100',
      joinTime: '2024-01-02T03:04:05.000000006Z'
    })
    expect(explain(lockPositions.encode(7n), fromHex('0000000000000102')).value).toBe('258')
    expect(explain(totalLiquidity.encode('uosmo'), fromHex('3132')).value).toBe('12')
    expect(explain(pools.encode(7n))).not.toHaveProperty('value')
  })

  it('that is none is told what it comes nearest to, and a value that is none where it goes wrong', () => {
    expect(explainEntry(fromHex('01000000000000000107'), undefined, 'chain')).toEqual({
      found: false,
      nearest: expect.stringMatching(/^ticks: byte 9 is 07/)
    })
    expect(() => explain(pools.encode(7n), fromHex('00'))).toThrow(
      expect.objectContaining({ code: 'ERR_VALUE_DECODE' })
    )
  })

  it('differs between the profiles', () => {
    const key = fromHex('0900000000000000012f0000000000000001')
    expect(explainEntry(key, undefined, 'chain').found).toBe(false)
    expect(explainEntry(key, undefined, 'seed').found).toBe(true)
    expect(toHex(key)).toHaveLength(36)
  })
})
