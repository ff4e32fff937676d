/**
 * The databases alone, with the rows of the same transactions. The rows are prepared outside the measured time, and
 * given in the order of their keys: no store on the database, with these rows in groups of this size, can be faster.
 * LMDB is also measured without syncs, which shows their share.
 */
import { Batch } from '@quoin/store'
import { GroupWriter } from '../../packages/store/src/ordered/group-writer.ts'
import { openHandle as openLevel } from '../../packages/store/src/ordered/level-handle.ts'
import { openHandle as openLmdb } from '../../packages/store/src/ordered/lmdb-handle.ts'
import type { Sheet } from '../case.ts'
import { fill } from './contestant.ts'
import { folder, type Resources } from './files.ts'

type Row = readonly [key: Uint8Array, value: Uint8Array | undefined]
type Get = (key: Uint8Array) => Uint8Array | undefined

interface Alone {
  /** Commits the rows durably; returns the milliseconds without their preparation. */
  commit(rows: (get: Get) => readonly Row[]): Promise<number>
}

type Database = 'lmdb' | 'lmdb, not synced' | 'level'

const lmdb =
  (noSync: boolean) =>
  async (resources: Resources): Promise<Alone> => {
    const handle = openLmdb(folder(resources), { noSync })
    resources.add(() => handle.close())
    return {
      commit: async rows => {
        let begin = 0
        handle.transactionSync(() => {
          const made = rows(key => handle.getBinaryFast(key))
          begin = performance.now()
          for (const [key, value] of made) {
            if (value) handle.put(key, value)
            else handle.remove(key)
          }
        })
        return performance.now() - begin
      }
    }
  }

const openers: Readonly<Record<Database, (resources: Resources) => Promise<Alone>>> = {
  lmdb: lmdb(false),
  'lmdb, not synced': lmdb(true),
  level: async resources => {
    const handle = await openLevel(folder(resources))
    resources.add(() => handle.close())
    return {
      commit: async rows => {
        const made = rows(key => handle.getSync(key))
        const begin = performance.now()
        const batch = handle.batch()
        for (const [key, value] of made) {
          if (value) batch.put(key, value)
          else batch.del(key)
        }
        await batch.write({ sync: true })
        return performance.now() - begin
      }
    }
  }
}

/** The rows that a group of transactions changes, in the order of their keys. */
class Rows {
  #get: Get = () => undefined
  #changed: Row[] = []
  readonly #writer = new GroupWriter({
    get: key => this.#get(key),
    keys: () => {
      throw new Error('these transactions walk nothing')
    },
    put: (key, value) => this.#changed.push([key.slice(), value.slice()]),
    del: key => this.#changed.push([key.slice(), undefined])
  })

  of(from: number, count: number): (get: Get) => readonly Row[] {
    return get => {
      this.#get = get
      this.#changed = []
      this.#writer.begin()
      for (let n = from; n < from + count; n++) this.#writer.run(fill(new Batch(refuse), n).take()!)
      this.#writer.flush()
      return this.#changed
    }
  }
}

const refuse = (): never => {
  throw new Error('its rows are committed, not it')
}

/** Rates of the first tenth, of all and of the last tenth. */
export const aloneSheet = async (
  groups: readonly (readonly [database: Database, size: number])[],
  transactions: number,
  resources: Resources,
  progress: (text: string) => void
): Promise<Sheet> => {
  const rows: (string | number)[][] = []
  for (const [database, size] of groups) {
    progress(`${database} in groups of ${size.toLocaleString('en-US')}`)
    const alone = await openers[database](resources)
    const made = new Rows()
    const times: number[] = []
    for (let n = 0; n < transactions; n += size) times.push(await alone.commit(made.of(n, size)))
    const tenth = Math.ceil(times.length / 10)
    const rate = (of: readonly number[]): number =>
      Math.round((1000 * of.length * size) / of.reduce((sum, time) => sum + time, 0))
    rows.push([database, size, rate(times.slice(0, tenth)), rate(times), rate(times.slice(-tenth))])
    await resources.close()
  }
  return { columns: ['database', 'tx in a commit', 'tx/s, first tenth', 'tx/s', 'tx/s, last tenth'], rows }
}
