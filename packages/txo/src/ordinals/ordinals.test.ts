/** Ordinals: where a satoshi goes, against a model that numbers every satoshi, and the content on its way. */
import { sha256, type Transaction, writeTransaction } from '@quoin/chain'
import { formatOutpoint, makeOutpoint, type Outpoint, type Txid, voutOf } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OutputStore } from '../output-store.ts'
import { B, bitcom, inscription, MAP, payTo, person, utf8 } from '../scripts/scripts.testing.ts'
import { TxUpdate } from '../tx-update.ts'
import { readContent } from './content.ts'
import { OrdinalWalk } from './ordinal-walk.ts'
import { contentParts, LATEST, originOf, resolveOrdinal } from './ordinals.ts'

interface TestOutput {
  readonly satoshis: number
  readonly script?: Uint8Array
}

const LOCK = payTo(person(1))
let count = 0

/** A transaction of these inputs; without any it spends an output that nobody has. */
const made = (inputs: readonly Outpoint[], outputs: readonly TestOutput[]): Transaction => {
  const unknown = makeOutpoint(sha256(utf8(`nobody ${count++}`)) as Txid, 0)
  return writeTransaction({
    version: 1,
    inputs: (inputs.length > 0 ? inputs : [unknown]).map(each => ({
      txid: each.slice(0, 32) as Txid,
      vout: voutOf(each),
      script: new Uint8Array(),
      sequence: 0
    })),
    outputs: outputs.map(({ satoshis, script = LOCK }) => ({ satoshis, script })),
    lockTime: 0
  })
}

const outpointsOf = (transaction: Transaction): Outpoint[] =>
  transaction.outputs.map((_, vout) => makeOutpoint(transaction.txid, vout))

/** Stores a transaction with its spends; the satoshis of its outputs only where it is `indexed`. */
const save = async (outputs: OutputStore, transaction: Transaction, indexed = true): Promise<Outpoint[]> => {
  const change = new TxUpdate(transaction.txid).addWrites(batch =>
    outputs.transactions.saveIn(batch, transaction, { verified: true })
  )
  for (const { txid, vout } of transaction.inputs) change.spend(makeOutpoint(txid, vout), [])
  if (indexed) {
    for (const [vout, { satoshis }] of transaction.outputs.entries()) {
      change.output(vout, outputs.indexed(transaction.txid, { satoshis }))
    }
  }
  await outputs.commit(change)
  return outpointsOf(transaction)
}

let outputs: OutputStore
beforeAll(async () => {
  outputs = new OutputStore(await openStore('memory:'))
})
afterAll(() => outputs.store.close())

const walk = (): OrdinalWalk => new OrdinalWalk(outputs)
const named = (outpoint: Outpoint | undefined): string | undefined => outpoint && formatOutpoint(outpoint)

it('follows every satoshi as a model that numbers them', async () => {
  const amount = fc.constantFrom(0, 1, 1, 1, 2, 3)
  const step = fc.record({
    spent: fc.array(fc.nat(), { minLength: 1, maxLength: 4 }),
    amounts: fc.array(amount, { minLength: 1, maxLength: 5 }),
    indexed: fc.boolean()
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async steps => {
      const satoshisOf = new Map<string, readonly number[]>()
      const spent = new Map<string, Outpoint[]>()
      const inputsOf = new Map<string, Outpoint[]>()
      const first = made(
        [],
        [1, 1, 2, 0, 3, 1].map(satoshis => ({ satoshis }))
      )
      let next = 0
      const unspent: Outpoint[] = []
      const coinage = await save(outputs, first)
      for (const [i, outpoint] of coinage.entries()) {
        satoshisOf.set(
          named(outpoint)!,
          Array.from({ length: first.outputs[i]!.satoshis }, () => next++)
        )
        unspent.push(outpoint)
      }
      const all: Outpoint[] = []
      for (const { spent: picks, amounts, indexed } of steps) {
        const inputs = picks.flatMap(pick =>
          unspent.length > 0 ? unspent.splice(pick % unspent.length, 1) : []
        )
        if (inputs.length === 0) break
        const pool = inputs.flatMap(input => satoshisOf.get(named(input)!)!)
        const within: number[] = []
        for (const each of amounts) {
          if (within.reduce((sum, satoshis) => sum + satoshis, each) <= pool.length) within.push(each)
        }
        if (within.length === 0) within.push(0)
        const transaction = made(
          inputs,
          within.map(satoshis => ({ satoshis }))
        )
        const outs = await save(outputs, transaction, indexed)
        for (const [i, outpoint] of outs.entries()) {
          satoshisOf.set(named(outpoint)!, pool.splice(0, within[i]!))
          inputsOf.set(named(outpoint)!, inputs)
          unspent.push(outpoint)
          all.push(outpoint)
        }
        for (const input of inputs) spent.set(named(input)!, outs)
      }
      const holdsAlone = (outpoint: Outpoint, satoshi: number): boolean => {
        const held = satoshisOf.get(named(outpoint)!)!
        return held.length === 1 && held[0] === satoshi
      }
      for (const outpoint of all) {
        const held = satoshisOf.get(named(outpoint)!)!
        if (held.length !== 1) continue
        const before = inputsOf.get(named(outpoint)!)!.find(each => holdsAlone(each, held[0]!))
        expect(named(await walk().previous(outpoint))).toBe(named(before))
        const after = spent.get(named(outpoint)!)?.find(each => holdsAlone(each, held[0]!))
        expect(named(await walk().next(outpoint))).toBe(named(after))
      }
    }),
    { numRuns: 20 }
  )
})

describe('an ordinal', () => {
  const inscribed = (content: string, data: Record<string, string> = {}) => ({
    satoshis: 1,
    script: Buffer.concat([
      inscription({ type: 'text/plain', content, suffix: LOCK }),
      ...(Object.keys(data).length > 0
        ? [bitcom([[MAP, 'SET', ...Object.entries(data).flat()]], Uint8Array.of())]
        : [])
    ])
  })
  let path: Outpoint[]
  beforeAll(async () => {
    const coin = (await save(outputs, made([], [{ satoshis: 10 }])))[0]!
    // The inscription is behind two satoshis, so that it is the third of its transaction.
    const [, origin] = await save(
      outputs,
      made([coin], [{ satoshis: 2 }, inscribed('first', { app: 'one', name: 'a' })])
    )
    const other = (await save(outputs, made([], [{ satoshis: 5 }])))[0]!
    const [, , moved] = await save(
      outputs,
      made([other, origin!], [{ satoshis: 4 }, { satoshis: 1 }, { satoshis: 1 }])
    )
    const [again] = await save(outputs, made([moved!], [inscribed('second', { name: 'b' })]))
    const [last] = await save(outputs, made([again!], [{ satoshis: 1 }]))
    path = [origin!, moved!, again!, last!]
  })
  const resolved = async (from: number, sequence: number) => {
    const found = await resolveOrdinal(walk(), path[from]!, sequence)
    return [found.sequence, named(found.content), { ...found.map }, found.isSettled]
  }

  it('has the content of the last inscription at or before a sequence number, and all metadata until then', async () => {
    const [one, , two] = path.map(named)
    expect(await resolved(0, 0)).toEqual([0, one, { app: 'one', name: 'a' }, true])
    expect(await resolved(3, 1)).toEqual([1, one, { app: 'one', name: 'a' }, true])
    expect(await resolved(3, 3)).toEqual([3, two, { app: 'one', name: 'b' }, true])
    expect(await resolved(1, LATEST)).toEqual([3, two, { app: 'one', name: 'b' }, false])
    // Spends lead there, and a reorg may change them.
    expect(await resolved(0, 2)).toEqual([2, two, { app: 'one', name: 'b' }, false])
    expect(named(await originOf(walk(), path[3]!))).toBe(one)
  })

  it('has no output behind its last one', async () => {
    await expect(resolved(0, 4)).rejects.toMatchObject({
      code: 'ERR_NOT_FOUND',
      message: expect.stringContaining('the last one is 3')
    })
  })

  it('begins where its only unknown input must hold more than 1 satoshi', async () => {
    const change = { satoshis: 900 }
    const [minted] = await save(outputs, made([], [{ satoshis: 1 }, change]))
    expect(await walk().previous(minted!)).toBe(undefined)
    // The satoshi of the known input comes first, and the coin that pays is not needed.
    const unknown = made([], [{ satoshis: 500 }])
    const paid = made([minted!, makeOutpoint(unknown.txid, 0)], [{ satoshis: 1 }, change])
    const [moved] = await save(outputs, paid)
    expect(named(await walk().previous(moved!))).toBe(named(minted))
    expect(named(await walk().next(minted!))).toBe(named(moved))
    const [behind, after] = await save(
      outputs,
      made([makeOutpoint(unknown.txid, 1), moved!], [{ satoshis: 1 }, { satoshis: 1 }])
    )
    await expect(walk().previous(behind!)).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
    await expect(walk().previous(after!)).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
    await expect(walk().next(moved!)).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
  })

  it('says which transaction its history lacks', async () => {
    const [orphan] = await save(outputs, made([], [{ satoshis: 1 }]))
    await expect(originOf(walk(), orphan!)).rejects.toMatchObject({
      code: 'ERR_NOT_FOUND',
      message: expect.stringContaining('is incomplete')
    })
  })

  it('is not followed without end', async () => {
    for (const limits of [
      { inputs: 3, bytes: 1e6 },
      { inputs: 1e6, bytes: 200 }
    ]) {
      const limited = new OrdinalWalk(outputs, limits)
      await expect(originOf(limited, path[3]!)).rejects.toMatchObject({ code: 'ERR_CONTENT_LIMIT' })
    }
    // A transaction counts once, however often it is read.
    const sizes = await Promise.all(
      path
        .slice(0, 2)
        .map(async each => (await outputs.transactions.get(each.slice(0, 32) as Txid))!.raw.length)
    )
    const again = new OrdinalWalk(outputs, { inputs: 0, bytes: sizes[0]! + sizes[1]! })
    for (const each of [path[0]!, path[1]!, path[0]!]) {
      expect(await again.output(each)).toMatchObject({ satoshis: 1 })
    }
  })
})

it('finds the parts of a file along its ordinal, until another inscription', async () => {
  const part = (type: string, content: string) => ({
    satoshis: 1,
    script: inscription({ type, content, suffix: LOCK })
  })
  const coin = (await save(outputs, made([], [{ satoshis: 10 }])))[0]!
  const [one] = await save(outputs, made([coin], [part('video/mp4;stream=ordfs', 'abc')]))
  const [two] = await save(outputs, made([one!], [part('ordfs/stream', 'de')]))
  const [three] = await save(outputs, made([two!], [part('ordfs/stream', 'fgh')]))
  await save(outputs, made([three!], [part('text/plain', 'another')]))
  const parts = await contentParts(walk(), one!)
  expect(parts.map(({ outpoint, length }) => [named(outpoint), length])).toEqual([
    [named(one), 3],
    [named(two), 2],
    [named(three), 3]
  ])
})

it('reads an inscription, otherwise a B file, and metadata that is set', () => {
  const typed = readContent(inscription({ type: 'image/png', content: 'x', suffix: LOCK }))
  expect(typed.content).toEqual({ type: 'image/png', bytes: expect.objectContaining({ length: 1 }) })
  expect(readContent(inscription({ content: 'x' })).content?.type).toBe('application/octet-stream')
  const file = readContent(
    bitcom([
      [B, 'hello', 'text/markdown'],
      [MAP, 'SET', 'app', 'x']
    ])
  )
  expect(Buffer.from(file.content!.bytes).toString()).toBe('hello')
  expect([file.content!.type, { ...file.map }]).toEqual(['text/markdown', { app: 'x' }])
  expect(readContent(bitcom([[MAP, 'DEL', 'app']])).map).toBe(undefined)
  expect(readContent(LOCK)).toEqual({ content: undefined, map: undefined, parent: undefined })
})
