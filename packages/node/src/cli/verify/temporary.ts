/** A store on disk for a rebuilt index, deleted at the end, also when a signal ends the process. */

import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { QuoinError } from '@quoin/primitives'
import type { Store } from '@quoin/store'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export const withTemporaryStore = async <T>(
  parent: string | undefined,
  work: (store: Store) => Promise<T>
): Promise<T> => {
  const { openStore } = await import('@quoin/store')
  const path = await mkdtemp(join(parent ?? tmpdir(), 'quoin-rebuilt-')).catch((error: Error) => {
    throw new QuoinError('ERR_FILE', `cannot make the temporary index: ${error.message}. Use --temp DIR`, {
      cause: error
    })
  })
  const remove = (): void => rmSync(path, { recursive: true, force: true })
  const onSignal = (signal: NodeJS.Signals): void => {
    remove()
    for (const each of SIGNALS) process.off(each, onSignal)
    process.kill(process.pid, signal)
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  try {
    const store = await openStore(`lmdb:${path}`)
    try {
      return await work(store)
    } finally {
      await store.close()
    }
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal)
    remove()
  }
}
