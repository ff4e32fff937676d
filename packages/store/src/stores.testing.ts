/** Stores to test what is written over engines with: one for each engine, and names that no other test has used. */
import { afterAll, beforeAll, describe } from 'vitest'
import { bytes } from '../../store-contract/src/steps.ts'
import type { Engine } from './engine.ts'
import { ENGINES } from './engines.testing.ts'
import { Store } from './store.ts'

export interface Opened {
  readonly engine: Engine
  readonly store: Store
}

/** Runs the tests once for each engine. What is opened can be used within a test only. */
export const describeStores = (
  names: readonly string[],
  tests: (opened: Opened, engineName: string) => void
): void => {
  describe.each(names)('%s', name => {
    const harness = ENGINES[name]!
    const opened = {} as { engine: Engine; store: Store }
    beforeAll(async () => {
      await harness.start?.()
      opened.engine = await harness.open()
      opened.store = new Store(opened.engine)
    })
    afterAll(async () => {
      await opened.store?.close()
      await harness.stop?.()
    })
    tests(opened, name)
  })
}

export const EVERY_ENGINE = Object.keys(ENGINES)

let names = 0
/** A key that nothing else has. */
export const newKey = (): Uint8Array => bytes(`key ${String(names++).padStart(9, '0')}`)

export const latin1 = (each: Uint8Array): string => Buffer.from(each).toString('latin1')
