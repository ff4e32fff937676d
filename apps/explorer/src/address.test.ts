import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressBytes, isRightAddress } from './address.ts'

const GENESIS = '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'

describe('an address', () => {
  it('is right with its checksum, and wrong with any letter changed', async () => {
    expect(await isRightAddress(GENESIS)).toBe(true)
    expect(await isRightAddress('1111111111111111111114oLvT2')).toBe(true)
    for (let at = 1; at < GENESIS.length; at++) {
      const changed = `${GENESIS.slice(0, at)}${GENESIS[at] === '2' ? '3' : '2'}${GENESIS.slice(at + 1)}`
      expect(await isRightAddress(changed)).toBe(false)
    }
  })

  it('has 25 bytes, or is none', () => {
    expect(addressBytes(GENESIS)).toHaveLength(25)
    expect(addressBytes('1'.repeat(34))).toBe(undefined)
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), text => {
        expect([undefined, 25]).toContain(addressBytes(text)?.length)
      })
    )
  })
})
