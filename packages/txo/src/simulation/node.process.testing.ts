/** A process that owns a store and does operations to its index: `tsx node.process.testing.ts URL`. */
import { openStore } from '@quoin/store'
import { IndexNode } from './node.testing.ts'
import type { Operation } from './operation.testing.ts'

/** What it is asked; at which time, by the clock of the simulation. */
export interface Request {
  readonly id: number
  readonly now: number
  readonly operation: Operation | 'close'
}

export interface Reply {
  readonly id: number
  readonly outcome: string
}

let now = 0
const store = await openStore(process.argv[2]!)
const node = await IndexNode.open(store, () => now)

process.on('message', async (request: Request) => {
  now = request.now
  if (request.operation === 'close') {
    await store.close()
    process.disconnect()
    return
  }
  const outcome = await node.perform(request.operation)
  process.send!({ id: request.id, outcome } satisfies Reply)
})
process.send!({ id: 0, outcome: 'ready' } satisfies Reply)
