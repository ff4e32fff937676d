/** A verification reads in pages: what it holds at a time does not grow with the store. */

import { encodeText, type Txid } from '@quoin/primitives'
import { type Engine, Store } from '@quoin/store'
import { expect, it } from 'vitest'
import type { Reads, SyncReads } from '../../store/src/engine.ts'
import { openEngine } from '../../store/src/open.ts'
import { OutputStore } from './output-store.ts'
import { verifyIndex } from './verify.ts'

const TRANSACTIONS = 3000
/** Of any read. */
const MOST_ROWS = 1000

/** An engine that notes the most rows, members or fields that any one read has answered. */
const measured = (engine: Engine, note: (rows: number, name: string) => void): Engine => {
  const measuredReads = <T extends Reads | SyncReads>(reads: T): T =>
    new Proxy(reads, {
      get(target, name) {
        const member = Reflect.get(target, name) as (...args: unknown[]) => unknown
        return (...args: unknown[]) => {
          const answer = Reflect.apply(member, target, args)
          if (answer instanceof Promise) return answer.then(value => noted(value, String(name), note))
          return noted(answer, String(name), note)
        }
      }
    })
  const [reads, syncReads] = [measuredReads(engine.reads), measuredReads(engine.syncReads!)]
  return new Proxy(engine, {
    get(target, name) {
      if (name === 'reads') return reads
      if (name === 'syncReads') return syncReads
      if (name === 'snapshot') {
        return (read: (reads: Reads) => Promise<unknown>) =>
          target.snapshot(snapshot => read(measuredReads(snapshot)))
      }
      const member = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    }
  })
}

const noted = <T>(answer: T, name: string, note: (rows: number, name: string) => void): T => {
  if (Array.isArray(answer)) note(answer.length, name)
  return answer
}

const idOf = (i: number): Txid => {
  const txid = new Uint8Array(32).fill(i % 251)
  new DataView(txid.buffer).setUint32(0, i * 2654435761)
  return txid as Txid
}

it('holds a page of rows at a time, however many there are', async () => {
  let most: readonly [number, string] = [0, 'nothing']
  const engine = await openEngine('memory:')
  const outputs = new OutputStore(new Store(engine))
  for (let i = 0; i < TRANSACTIONS; i++) {
    await outputs.saveOutputs(idOf(i), [{ vout: 0, satoshis: 1, events: [], owners: [] }], {
      seen: 1_700_000_000 + i
    })
  }
  const store = new Store(
    measured(engine, (rows, name) => {
      if (rows > most[0]) most = [rows, name]
    })
  )
  const { transactions, differences } = await verifyIndex(store)
  expect({ transactions, differences }).toEqual({ transactions: TRANSACTIONS, differences: [] })
  expect(most[0]).toBeLessThanOrEqual(MOST_ROWS)
  await store.zadd(encodeText('z:tp:tm_x'), { member: idOf(TRANSACTIONS), score: 1 })
  expect((await verifyIndex(store)).differences).toHaveLength(1)
  await store.close()
})
