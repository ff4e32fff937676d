/**
 * The contract of an engine, as a suite to hand an engine to. It asserts with `node:assert`, so any test framework
 * that registers tests by name can run it:
 *
 * ```ts
 * import { storeContract } from '@quoin/store-contract'
 * import { test } from 'node:test'
 *
 * storeContract({ test, open: async () => openMyEngine() })
 * ```
 */
import type { Engine } from '@quoin/store'
import { batches } from './batches.ts'
import { boundaries } from './boundaries.ts'
import { clocks } from './clocks.ts'
import { hashes, sets, values } from './collections.ts'
import { concurrency } from './concurrency.ts'
import { conditions } from './conditions.ts'
import { large } from './large.ts'
import { leases } from './leases.ts'
import { lifetime } from './lifetime.ts'
import { limits } from './limits.ts'
import { logs } from './logs.ts'
import { manifest } from './manifest.ts'
import { queues } from './queues.ts'
import { ranges } from './ranges.ts'
import { rows } from './rows.ts'
import { snapshots } from './snapshots.ts'
import { sortedSets } from './sortedsets.ts'
import { Subject } from './subject.ts'

export interface StoreContract {
  /** Registers a test: `test` of node:test or vitest, `it` of mocha. */
  test(name: string, run: () => Promise<void>): unknown
  /** A new, empty engine. The suite closes it. */
  open(): Promise<Engine>
  /** Closes the engine and opens what it stored. Without it, durability is not tested. */
  reopen?(engine: Engine): Promise<Engine>
  /** Opens a backup in a directory. Without it, backups are not tested. */
  openBackup?(directory: string): Promise<Engine>
  /** Also the cases that take minutes or gigabytes. */
  large?: boolean
}

export type Cases = Readonly<Record<string, (store: Subject, contract: StoreContract) => Promise<void>>>

export const storeContract = (contract: StoreContract): void => {
  const groups: Record<string, Cases> = {
    'key-values': values,
    hashes,
    sets,
    'sorted sets': sortedSets,
    'rows of a sorted set': rows,
    logs,
    ranges,
    'name spaces': boundaries,
    batches,
    conditions,
    concurrency,
    snapshots,
    queues,
    leases,
    clocks,
    limits,
    manifest,
    lifetime,
    ...(contract.large ? { large } : {})
  }
  for (const [group, cases] of Object.entries(groups)) {
    for (const [name, run] of Object.entries(cases)) {
      contract.test(`${group}: ${name}`, async () => {
        const engine = await contract.open()
        try {
          await run(new Subject(engine), contract)
        } finally {
          await engine.close()
        }
      })
    }
  }
}
