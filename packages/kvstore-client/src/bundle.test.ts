import { Beef, Hash, MerklePath, P2PKH, PrivateKey, Transaction, UnlockingScript, Utils } from '@bsv/sdk'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atomicOf, Bundle } from './bundle.ts'

const lockingScript = new P2PKH().lock(new PrivateKey(7).toAddress())
let count = 0
/** Spends outputs 0 and 1 of each, or what nobody has. */
const transaction = (...sources: Transaction[]): Transaction => {
  const made = new Transaction(1, [], [], ++count)
  const inputs = sources.flatMap(source => [0, 1].map(vout => [source.id('hex'), vout] as const))
  for (const [sourceTXID, sourceOutputIndex] of inputs.length > 0
    ? inputs
    : [[count.toString(16).padStart(64, '0'), 0] as const]) {
    made.addInput({
      sourceTXID,
      sourceOutputIndex,
      unlockingScript: new UnlockingScript(),
      sequence: 0xffffffff
    })
  }
  for (const satoshis of [1, 2]) made.addOutput({ satoshis, lockingScript })
  return made
}
const proven = (height: number): Transaction => {
  const made = transaction()
  made.merklePath = new MerklePath(height, [
    [
      { offset: 0, hash: '22'.repeat(32) },
      { offset: 1, hash: made.id('hex'), txid: true }
    ]
  ])
  return made
}
const bytes = (beef: readonly number[]): Uint8Array => Uint8Array.from(beef)

describe('a bundle', () => {
  it('has the transactions of a BEEF of either version, atomic or not', () => {
    for (const version of [4022206465, 4022206466]) {
      const root = proven(5)
      const [left, right] = [transaction(root), transaction(root)]
      const tip = transaction(left, right)
      const beef = new Beef(version)
      for (const each of [root, left, right, tip]) beef.mergeTransaction(each)
      for (const encoded of [beef.toBinary(), beef.toBinaryAtomic(tip.id('hex'))]) {
        const bundle = new Bundle(bytes(encoded))
        expect([bundle.size, bundle.subject]).toEqual([4, tip.id('hex')])
        for (const each of [root, left, right, tip]) {
          expect(bundle.transaction(each.id('hex'))!.toHex()).toBe(each.toHex())
        }
        expect(bundle.transaction('00'.repeat(32))).toBeUndefined()
      }
    }
  })

  it('has none of those of which only the txid is known', () => {
    const beef = new Beef()
    const known = transaction()
    beef.mergeTxidOnly(known.id('hex'))
    expect(new Bundle(bytes(beef.toBinary())).size).toBe(0)
    expect(new Bundle(bytes(beef.toBinary())).transaction(known.id('hex'))).toBeUndefined()
  })

  it('is refused when the bytes break off, go on, or are something else', () => {
    const beef = bytes(Beef.fromBinary(transaction(proven(3)).toBEEF(true)).toBinary())
    for (let length = 0; length < beef.length; length++) {
      expect(() => new Bundle(beef.subarray(0, length))).toThrow(
        expect.objectContaining({ code: 'ERR_KV_HOST' })
      )
    }
    expect(() => new Bundle(Uint8Array.of(...beef, 0))).toThrow('too many')
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (noise, isTagged) => {
        const sent = isTagged ? Uint8Array.of(2, 0, 0xbe, 0xef, ...noise) : noise
        try {
          expect(new Bundle(sent).bytes).toBe(sent)
        } catch (error) {
          expect(error).toMatchObject({ code: 'ERR_KV_HOST' })
        }
      })
    )
  })

  it('is read in a moment whatever its proofs cover, and however many paths there are', () => {
    const leaves = 4096
    const writer = new Utils.Writer()
    writer.writeUInt32LE(4022206466)
    writer.writeVarIntNum(1)
    writer.writeVarIntNum(1)
    writer.writeUInt8(12)
    writer.writeVarIntNum(leaves)
    for (let offset = 0; offset < leaves; offset++) {
      writer.writeVarIntNum(offset)
      writer.writeUInt8(2)
      writer.write(Hash.sha256([offset & 255, offset >> 8]))
    }
    for (let level = 1; level < 12; level++) writer.writeVarIntNum(0)
    const chain = [transaction()]
    for (let i = 0; i < 60; i++) chain.push(transaction(chain.at(-1)!))
    writer.writeVarIntNum(chain.length)
    for (const each of chain) {
      writer.writeUInt8(0)
      writer.write(each.toBinary())
    }
    const bundle = new Bundle(bytes(writer.toArray()))
    expect([bundle.size, bundle.subject]).toEqual([chain.length, chain.at(-1)!.id('hex')])
  })
})

describe('what a wallet knows of one transaction', () => {
  it('is the transaction with what it stands on, and nothing else', () => {
    const [root, stray] = [proven(4), proven(6)]
    const middle = transaction(root)
    const tip = transaction(middle)
    const other = transaction(stray)
    const beef = new Beef()
    for (const each of [stray, other, root, middle, tip]) beef.mergeTransaction(each)
    const own = Beef.fromBinary(atomicOf(beef, tip.id('hex')))
    expect(own.txs.map(({ txid }) => txid).sort()).toEqual(
      [root, middle, tip].map(each => each.id('hex')).sort()
    )
    expect(own.bumps.map(({ blockHeight }) => blockHeight)).toEqual([4])
    expect(own.atomicTxid).toBe(tip.id('hex'))
    expect(own.isValid()).toBe(true)
    expect(Beef.fromBinary(atomicOf(beef, other.id('hex'))).isValid()).toBe(true)
  })
})
