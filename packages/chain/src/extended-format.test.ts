/** Extended Format, byte for byte as `@bsv/sdk` writes it. */
import { Transaction as SdkTransaction } from '@bsv/sdk'
import { DevChain } from '@quoin/dev-chain'
import { bytesKey, formatTxid, toHex } from '@quoin/primitives'
import { expect, it } from 'vitest'
import { isExtended, parseExtended, writeExtended } from './extended-format.ts'
import { makeKey, payTo, spend, withKeyHash } from './verify/test-chain.testing.ts'

const key = makeKey('extended')
const chain = new DevChain({ seed: 'extended' })
const parents = [chain.fund(payTo(key), 1000), chain.fund(payTo(key), 70_000)] as const
const transaction = spend({
  inputs: parents.map(from => ({ from, vout: 0, unlock: withKeyHash(key) })),
  outputs: [
    { satoshis: 1, script: payTo(key) },
    { satoshis: 70_900, script: new Uint8Array(300).fill(0x6a) }
  ]
})
const byTxid = new Map(parents.map(each => [bytesKey(each.txid), each]))
const extended = writeExtended(transaction, txid => byTxid.get(bytesKey(txid)))!

it('is what the SDK writes, and reads back as the raw transaction', async () => {
  await chain.submit(transaction)
  const theirs = SdkTransaction.fromBEEF([...chain.beef(transaction.txid)])
  expect(toHex(extended)).toBe(theirs.toHexEF())
  expect(isExtended(extended)).toBe(true)
  expect(isExtended(transaction.raw)).toBe(false)
  expect(toHex(parseExtended(extended).raw)).toBe(toHex(transaction.raw))
  expect(formatTxid(parseExtended(transaction.raw).txid)).toBe(formatTxid(transaction.txid))
})

it('is not written without every spent transaction', () => {
  expect(
    writeExtended(transaction, txid =>
      bytesKey(txid) === bytesKey(parents[0].txid) ? parents[0] : undefined
    )
  ).toBe(undefined)
})

it('is refused when it is cut off, longer, or claims more than it has', () => {
  for (const length of [0, 5, 12, 60, extended.length - 1]) {
    expect(() => parseExtended(extended.subarray(0, length))).toThrow(
      expect.objectContaining({ code: 'ERR_TX_FORMAT' })
    )
  }
  expect(() => parseExtended(Uint8Array.of(...extended, 0))).toThrow(
    expect.objectContaining({ code: 'ERR_TX_FORMAT' })
  )
  const claims = Uint8Array.of(...extended.subarray(0, 10), 0xfe, 0xff, 0xff, 0xff, 0xff)
  expect(() => parseExtended(claims)).toThrow(expect.objectContaining({ code: 'ERR_TX_FORMAT' }))
})
