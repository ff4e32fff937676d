/** The keys of the chain: proved, and with values that are read as they were written or not at all. */

import { toHex } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseHeader } from './headers/header.ts'
import { GENESIS } from './headers/headers.testing.ts'
import { chain } from './keys.ts'

const { header, active, tip, origin, transaction, proof, log } = chain.collections
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 })
const DECODE = expect.objectContaining({ code: 'ERR_VALUE_DECODE' })

describe('the keys of the chain', () => {
  it('are proved', () => {
    expect(chain.proof.sound).toBe(true)
  })

  it('are these bytes', () => {
    const id = new Uint8Array(32).fill(0xab)
    const keys = [
      header.encode(id),
      active.encode(7),
      tip.encode(),
      origin.encode(),
      transaction.encode(id as never),
      proof.encode(id as never),
      log.encode('mined')
    ]
    expect(keys.map(toHex)).toStrictEqual([
      `623a${'ab'.repeat(32)}`,
      '633a00000007',
      toHex(Buffer.from('chain:tip')),
      toHex(Buffer.from('chain:origin')),
      `743a${'ab'.repeat(32)}`,
      `743a${'ab'.repeat(32)}${toHex(Buffer.from(':proof'))}`,
      toHex(Buffer.from('z:tx:mined'))
    ])
  })
})

describe('a stored header', () => {
  const { codec } = header.value

  it('has its height and the work up to it', () => {
    const work = fc.bigInt({ min: 0n, max: (1n << 256n) - 1n })
    fc.assert(
      fc.property(hash, fc.nat(0xffffffff), work, (root, height, total) => {
        const raw = GENESIS.raw.slice()
        raw.set(root, 36)
        const encoded = codec.encode({ header: parseHeader(raw), height, work: total })
        expect(encoded).toHaveLength(116)
        expect(BigInt(`0x${toHex(encoded.subarray(84))}`)).toBe(total)
        expect(new DataView(encoded.buffer).getUint32(80)).toBe(height)
        const read = codec.decode(encoded)
        expect([read.header.raw, read.height, read.work]).toStrictEqual([raw, height, total])
      })
    )
  })

  it('is refused when it has another length', () => {
    for (const length of [0, 80, 115, 117]) expect(() => codec.decode(new Uint8Array(length))).toThrow(DECODE)
  })
})

describe('a stored transaction', () => {
  const { codec } = transaction.value

  it('is its bytes, and whether they were verified', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.boolean(), (raw, verified) => {
        const encoded = codec.encode({ raw, verified })
        expect(encoded[0]).toBe(verified ? 1 : 0)
        expect(codec.decode(encoded)).toStrictEqual({ raw, verified })
      })
    )
  })

  it('is refused when it does not say', () => {
    for (const bytes of [[], [2], [0xff, 1]])
      expect(() => codec.decode(Uint8Array.from(bytes))).toThrow(DECODE)
  })
})
