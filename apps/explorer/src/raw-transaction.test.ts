import { DevChain } from '@quoin/dev-chain'
import { formatTxid } from '@quoin/primitives'
import { describe, expect, it } from 'vitest'
import { parseTransaction } from './raw-transaction.ts'

describe('a transaction from its bytes', () => {
  it('is what the node made of them', () => {
    const transaction = new DevChain().fund('1HdvFwjcMgRdB8Cwgzcaady1GYd7a9Ffyc', 1234)
    const parsed = parseTransaction(transaction.raw)
    expect(parsed.length).toBe(transaction.raw.length)
    expect(parsed.inputs.map(({ outpoint }) => outpoint)).toEqual(
      transaction.inputs.map(({ txid, vout }) => `${formatTxid(txid)}.${vout}`)
    )
    expect(parsed.outputs).toEqual(
      transaction.outputs.map(({ satoshis, script }) => ({
        satoshis: BigInt(satoshis),
        scriptLength: script.length
      }))
    )
  })

  it('cut short is an error, and never a loop', () => {
    const { raw } = new DevChain().fund('1HdvFwjcMgRdB8Cwgzcaady1GYd7a9Ffyc', 1234)
    for (let length = 0; length < raw.length; length++) {
      expect(() => parseTransaction(raw.slice(0, length))).toThrow(RangeError)
    }
  })
})
