/** The cost of reads and writes as a store grows, in the same store at several sizes. */
import type { Sheet } from '../case.ts'
import { median } from '../stats.ts'
import { embedded, takeDurably } from './contestant.ts'
import type { Resources } from './files.ts'
import { ownMemory } from './memory.ts'
import { PAGE } from './reads.ts'
import { FIELD, LOG, mix, outpointOf, outputKey, ROWS, scoreOf } from './workload.ts'

const BATCHES = 15

export const growthSheet = async (
  engines: readonly ('lmdb' | 'level')[],
  rowCounts: readonly number[],
  resources: Resources,
  progress: (text: string) => void
): Promise<Sheet> => {
  const rows: (string | number)[][] = []
  for (const engine of engines) {
    const { store, bytes } = await embedded(engine, 'durable', resources)
    let taken = 0
    for (const count of rowCounts) {
      progress(`${engine} at ${count.toLocaleString('en-US')} rows`)
      const transactions = Math.ceil(count / ROWS)
      // The rate is that of the last tenth, if the store was not empty before.
      const early = taken === 0 ? taken : Math.floor(transactions * 0.9)
      await takeDurably(store, taken, early - taken)
      const begin = performance.now()
      await takeDurably(store, early, transactions - early)
      const rate = (transactions - early) / ((performance.now() - begin) / 1000)
      taken = transactions
      let next = 0
      const pick = (): number => mix(next++) % transactions
      rows.push([
        engine,
        count,
        transactions,
        await microseconds(200, () => store.hget(outputKey(outpointOf(pick(), 0)), FIELD.events)),
        await microseconds(20, () => store.zrange(LOG, { min: scoreOf(pick() * 0.9), count: PAGE })),
        await microseconds(200, () => store.zcard(LOG)),
        Math.round(rate),
        Math.round((await bytes()) / transactions),
        Math.round(ownMemory())
      ])
    }
    await resources.close()
  }
  return {
    columns: [
      'engine',
      'rows',
      'transactions',
      'point read us',
      `page of ${PAGE} us`,
      'zcard us',
      'durable tx/s',
      'B/tx',
      'own MB'
    ],
    rows
  }
}

/** Microseconds of one call; the first calls only warm up. */
const microseconds = async (calls: number, read: () => Promise<unknown>): Promise<number> => {
  const samples: number[] = []
  for (let batch = 0; batch < BATCHES; batch++) {
    const begin = performance.now()
    for (let i = 0; i < calls; i++) await read()
    samples.push(((performance.now() - begin) * 1000) / calls)
  }
  return median(samples.slice(BATCHES / 3))
}
