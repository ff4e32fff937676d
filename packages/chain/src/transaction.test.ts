/** Transactions: any is read back as it was written, real ones as they are, and nothing else is one. */
import { readdirSync, readFileSync } from 'node:fs'
import { Transaction as SdkTransaction } from '@bsv/sdk'
import { formatTxid, fromHex, hasCode, Reader, type Txid, toHex } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { transactions } from './beef.testing.ts'
import { sha256d } from './hash.ts'
import {
  type Output,
  parseTransaction,
  readTransaction,
  type Transaction,
  writeTransaction
} from './transaction.ts'

const FIXTURES = new URL('./fixtures/', import.meta.url)
const REAL = readdirSync(FIXTURES).filter(name => /^[0-9a-f]{64}\.hex$/.test(name))
const realOne = (name: string): Uint8Array => fromHex(readFileSync(new URL(name, FIXTURES), 'utf8').trim())

const refused = (bytes: Uint8Array): boolean => {
  try {
    parseTransaction(bytes)
    return false
  } catch (error) {
    if (hasCode(error, 'ERR_TX_FORMAT')) return true
    throw error
  }
}

const partsOf = ({ version, inputs, outputs, lockTime }: Transaction): unknown => ({
  version,
  inputs: inputs.map(({ txid, vout, script, sequence }) => [formatTxid(txid), vout, toHex(script), sequence]),
  outputs: outputs.map(({ satoshis, script }) => [satoshis, toHex(script)]),
  lockTime
})

const withOutputs = (outputs: readonly Output[]): Transaction =>
  writeTransaction({ version: 1, inputs: [], outputs, lockTime: 0 })

describe('a transaction', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(transactions, transaction => {
        const read = parseTransaction(transaction.raw)
        expect(partsOf(read)).toStrictEqual(partsOf(transaction))
        expect(read.inputCount).toBe(read.inputs.length)
        expect(read.outputCount).toBe(read.outputs.length)
        expect([...read.spentTxids()]).toStrictEqual(read.inputs.map(({ txid }) => txid))
        expect(read.txid).toStrictEqual(sha256d(transaction.raw))
        expect(toHex(writeTransaction(read).raw)).toBe(toHex(transaction.raw))
      })
    )
  })

  it('is what the SDK reads', () => {
    fc.assert(
      fc.property(transactions, transaction => {
        const sdk = SdkTransaction.fromBinary([...transaction.raw])
        expect(sdk.id('hex')).toBe(formatTxid(transaction.txid))
        expect(sdk.version).toBe(transaction.version)
        expect(sdk.lockTime).toBe(transaction.lockTime)
        expect(
          sdk.inputs.map(input => [input.sourceTXID, input.sourceOutputIndex, input.sequence])
        ).toStrictEqual(
          transaction.inputs.map(({ txid, vout, sequence }) => [formatTxid(txid), vout, sequence])
        )
        expect(sdk.outputs.map(output => [output.satoshis, output.lockingScript.toHex()])).toStrictEqual(
          transaction.outputs.map(({ satoshis, script }) => [satoshis, toHex(script)])
        )
      }),
      { numRuns: 50 }
    )
  })

  it.each(REAL)('of the real chain: %s', name => {
    const bytes = realOne(name)
    const transaction = parseTransaction(bytes)
    expect(`${formatTxid(transaction.txid)}.hex`).toBe(name)
    expect(toHex(writeTransaction(transaction).raw)).toBe(toHex(bytes))
    expect(transaction.isCoinbase).toBe(false)
    for (let end = 0; end < bytes.length; end += 7) expect(refused(bytes.subarray(0, end))).toBe(true)
  })

  it('has fixtures of its kind', () => {
    expect(REAL.length).toBe(4)
  })

  it('keeps its bytes, and so its txid, however its lengths are written', () => {
    const short = fromHex(`01000000 00 01 0500000000000000 02 5151 00000000`.replaceAll(' ', ''))
    const long = fromHex(
      `01000000 fd0000 fe01000000 0500000000000000 ff0200000000000000 5151 00000000`.replaceAll(' ', '')
    )
    const read = parseTransaction(long)
    expect(partsOf(read)).toStrictEqual(partsOf(parseTransaction(short)))
    expect(toHex(read.raw)).toBe(toHex(long))
    expect(toHex(read.txid)).toBe(toHex(sha256d(long)))
    expect(toHex(writeTransaction(read).raw)).toBe(toHex(short))
  })

  it('is read from the middle of something, and views it', () => {
    fc.assert(
      fc.property(transactions, fc.nat(5), fc.nat(5), (transaction, before, after) => {
        const room = new Uint8Array(before + transaction.raw.length + after)
        room.set(transaction.raw, before)
        const reader = new Reader(Buffer.from(room.buffer), 'ERR_BEEF_FORMAT', before)
        const read = readTransaction(reader)
        expect(reader.remaining).toBe(after)
        expect(read.raw.buffer).toBe(room.buffer)
        expect(toHex(read.raw)).toBe(toHex(transaction.raw))
        for (const { script } of [...read.inputs, ...read.outputs]) expect(script.buffer).toBe(room.buffer)
      }),
      { numRuns: 50 }
    )
  })

  it('is a coinbase if its only input spends nothing', () => {
    const input = {
      txid: new Uint8Array(32) as Txid,
      vout: 0xffffffff,
      script: new Uint8Array(),
      sequence: 0
    }
    const of = (...inputs: (typeof input)[]): boolean =>
      writeTransaction({ version: 1, inputs, outputs: [], lockTime: 0 }).isCoinbase
    expect(of(input)).toBe(true)
    expect(of()).toBe(false)
    expect(of(input, input)).toBe(false)
    expect(of({ ...input, vout: 0 })).toBe(false)
    expect(of({ ...input, txid: new Uint8Array(32).fill(1, 31) as Txid })).toBe(false)
  })
})

describe('bytes are refused', () => {
  it('wherever a transaction breaks off, and with anything after it', () => {
    fc.assert(
      fc.property(
        transactions.filter(({ raw }) => raw.length < 1500),
        ({ raw }) => {
          for (let end = 0; end < raw.length; end++) if (!refused(raw.subarray(0, end))) expect.fail(`${end}`)
          expect(refused(Uint8Array.of(...raw, 0))).toBe(true)
        }
      ),
      { numRuns: 30 }
    )
  })

  it('or are a transaction, whatever they are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), bytes => {
        if (!refused(bytes)) expect(toHex(parseTransaction(bytes).raw)).toBe(toHex(bytes))
      }),
      { numRuns: 2000 }
    )
    fc.assert(
      fc.property(transactions, fc.nat(), fc.nat(255), ({ raw }, at, byte) => {
        const changed = raw.slice()
        changed[at % raw.length] = byte
        if (!refused(changed)) expect(parseTransaction(changed).raw.length).toBe(raw.length)
      })
    )
  })

  it('that count more inputs or outputs than they have room for', () => {
    expect(refused(fromHex('01000000ffffffffffffff1f00'))).toBe(true)
    expect(refused(fromHex(`0100000002${'00'.repeat(81)}`))).toBe(true)
    expect(refused(fromHex('0100000000fe00000010'))).toBe(true)
  })

  it('that have an output of more than there is', () => {
    expect(withOutputs([{ satoshis: 21e14, script: new Uint8Array() }]).outputs[0]!.satoshis).toBe(21e14)
    expect(refused(fromHex('0100000000010040075af0750700' + '00' + '00000000'))).toBe(false)
    expect(refused(fromHex('0100000000010140075af0750700' + '00' + '00000000'))).toBe(true)
    expect(refused(fromHex('010000000001ffffffffffffffff' + '00' + '00000000'))).toBe(true)
  })
})

describe('writeTransaction', () => {
  const script = new Uint8Array()

  it.each([
    ['too many satoshis', { outputs: [{ satoshis: 21e14 + 1, script }] }],
    ['satoshis below zero', { outputs: [{ satoshis: -1, script }] }],
    ['a part of a satoshi', { outputs: [{ satoshis: 0.5, script }] }],
    ['a version below zero', { version: -1 }],
    ['a lock time of 33 bits', { lockTime: 2 ** 32 }],
    ['a txid of 31 bytes', { inputs: [{ txid: new Uint8Array(31) as Txid, vout: 0, script, sequence: 0 }] }],
    [
      'an output number that is none',
      { inputs: [{ txid: new Uint8Array(32) as Txid, vout: Number.NaN, script, sequence: 0 }] }
    ]
  ])('refuses %s', (_, wrong) => {
    const parts = { version: 1, inputs: [], outputs: [], lockTime: 0, ...wrong }
    expect(() => writeTransaction(parts)).toThrow(expect.objectContaining({ code: 'ERR_TX_FORMAT' }))
  })
})
