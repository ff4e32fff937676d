import { Script, Transaction as SdkTransaction, TransactionSignature } from '@bsv/sdk'
import type { Txid } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sha256d } from '../hash.ts'
import { type Output, type Transaction, writeTransaction } from '../transaction.ts'
import { isDefined, isForkId, SIGHASH, Sighash } from './sighash.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const script = fc.uint8Array({ maxLength: 300 })
const u32 = fc.nat({ max: 0xffffffff })
const output = fc.record({ satoshis: fc.nat({ max: 21e14 }), script })
const transaction = fc
  .record({
    version: u32,
    inputs: fc.array(
      fc.record({ txid: bytes(32).map(txid => txid as Txid), vout: u32, script, sequence: u32 }),
      { minLength: 1, maxLength: 5 }
    ),
    outputs: fc.array(output, { maxLength: 5 }),
    lockTime: u32
  })
  .map(writeTransaction)

const FORK_TYPES = [SIGHASH.ALL, SIGHASH.NONE, SIGHASH.SINGLE]
  .map(type => type | SIGHASH.FORKID)
  .flatMap(type => [type, type | SIGHASH.ANYONECANPAY])

const bySdk = ({ raw }: Transaction, index: number, spent: Output, scope: number): Uint8Array => {
  const { version, inputs, outputs, lockTime } = SdkTransaction.fromBinary([...raw])
  const { sourceTXID, sourceOutputIndex, sequence } = inputs[index]!
  return TransactionSignature.formatBytes({
    sourceTXID: sourceTXID!,
    sourceOutputIndex,
    sourceSatoshis: spent.satoshis,
    transactionVersion: version,
    otherInputs: inputs.filter((_, i) => i !== index),
    inputIndex: index,
    outputs,
    inputSequence: sequence!,
    subscript: Script.fromBinary([...spent.script]),
    lockTime,
    scope
  })
}

describe('what a signature signs', () => {
  test('is what @bsv/sdk says, for every input and every type', () => {
    fc.assert(
      fc.property(transaction, output, (transaction, spent) => {
        const sighash = new Sighash(transaction)
        for (const index of transaction.inputs.keys()) {
          for (const type of FORK_TYPES) {
            const preimage = sighash.preimage(index, spent, type)
            expect(preimage).toEqual(bySdk(transaction, index, spent, type))
            expect(sighash.digest(index, spent, type)).toEqual(sha256d(preimage))
          }
        }
      }),
      { numRuns: 60 }
    )
  })

  test('holds lengths of every size', () => {
    const input = { txid: new Uint8Array(32) as Txid, vout: 0, script: new Uint8Array(), sequence: 0 }
    for (const length of [0, 252, 253, 65_535, 65_536]) {
      const spent = { satoshis: 1, script: new Uint8Array(length) }
      const transaction = writeTransaction({
        version: 1,
        inputs: [input],
        outputs: [spent, spent],
        lockTime: 0
      })
      const preimage = new Sighash(transaction).preimage(0, spent, 0x41)
      expect(Buffer.compare(preimage, bySdk(transaction, 0, spent, 0x41))).toBe(0)
    }
  })

  test('covers no output where SINGLE has none of its number', () => {
    const input = { txid: new Uint8Array(32) as Txid, vout: 0, script: new Uint8Array(), sequence: 0 }
    const spent = { satoshis: 1, script: new Uint8Array() }
    const withOutputs = (outputs: Output[]): Uint8Array =>
      new Sighash(writeTransaction({ version: 1, inputs: [input, input], outputs, lockTime: 0 })).digest(
        1,
        spent,
        SIGHASH.SINGLE | SIGHASH.FORKID
      )
    expect(withOutputs([])).toEqual(withOutputs([spent]))
    expect(withOutputs([spent])).not.toEqual(withOutputs([spent, spent]))
  })
})

test('a type is one of ALL, NONE and SINGLE, whatever else it says', () => {
  const types = Array.from({ length: 256 }, (_, type) => type)
  expect(types.filter(isDefined)).toHaveLength(3 * 8)
  expect(types.filter(isDefined).filter(isForkId)).toEqual([0x41, 0x42, 0x43, 0xc1, 0xc2, 0xc3])
})
