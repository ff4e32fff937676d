import { Bump, parseTransaction, sha256d } from '@quoin/chain'
import { formatTxid, QuoinError, type Txid } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import documented from './fixtures/junglebus-documented.json' with { type: 'json' }
import { tscProof } from './junglebus.testing.ts'
import { bumpOfTsc } from './tsc-proof.ts'

const fromHex = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'))
const txidsOf = (count: number): Txid[] =>
  Array.from({ length: count }, (_, i) => sha256d(Uint8Array.of(i, i >> 8)) as Txid)

describe('a proof as JungleBus sends it', () => {
  it('leads from the transaction of its documentation to the merkle root that it names', () => {
    const { txid } = parseTransaction(fromHex(documented.transaction))
    expect(formatTxid(txid)).toBe(documented.id)
    const proof = fromHex(documented.merkle_proof)
    const bump = bumpOfTsc(proof, txid, documented.block_height)
    expect(bump.height).toBe(750_000)
    expect(bump.offsetOf(txid)).toBe(documented.block_index)
    expect(bump.rootOf(txid)).toEqual(proof.subarray(34, 66))
  })

  it('of any transaction of a block of any size becomes a bump with the root of the block', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 70 }), fc.nat(), (size, at) => {
        const txids = txidsOf(size)
        const index = at % size
        const bump = bumpOfTsc(tscProof(txids, index), txids[index]!, 800_000)
        expect(bump.offsetOf(txids[index]!)).toBe(index)
        expect(bump.rootOf(txids[index]!)).toEqual(Bump.ofBlock(800_000, txids).root)
      })
    )
  })

  it('is refused for another transaction', () => {
    const txids = txidsOf(5)
    expect(() => bumpOfTsc(tscProof(txids, 2), txids[3]!, 1)).toThrow(
      expect.objectContaining({ code: 'ERR_SOURCE_FORMAT' })
    )
  })

  it('never does more than refuse what is none', () => {
    const txids = txidsOf(9)
    const proof = tscProof(txids, 8)
    const mangled = fc
      .array(fc.tuple(fc.nat(proof.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
      .map(changes => {
        const bytes = proof.slice()
        for (const [at, byte] of changes) bytes[at] = byte
        return bytes
      })
    fc.assert(
      fc.property(fc.oneof(mangled, fc.uint8Array({ maxLength: 400 })), bytes => {
        try {
          expect(bumpOfTsc(bytes, txids[8]!, 1).proves(txids[8]!)).toBe(true)
        } catch (error) {
          expect(error).toBeInstanceOf(QuoinError)
          expect((error as QuoinError).code).toBe('ERR_SOURCE_FORMAT')
        }
      })
    )
  })
})
