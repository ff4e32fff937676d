/** The leases of a node: each is of tasks that run in one of the processes on a store. */
import { type Logger, overlay } from '@quoin/overlay'
import { type Store, TaskLease } from '@quoin/store'

/**
 * `chain`: headers, reorgs and proofs. `peers`: the sync of topics. `sources`: the sources of tokens. `discovery`: the
 * advertiser and the janitor. `broadcast`: the outbox of transactions for the network.
 */
export type LeaseName = 'chain' | 'peers' | 'sources' | 'discovery' | 'broadcast'

export const taskLease = (store: Store, name: LeaseName, logger: Logger): TaskLease =>
  new TaskLease(store, {
    name,
    queue: options => store.queueAt(overlay.collections.taskLeases, [name], options),
    onChange: isHeld => logger.info(isHeld ? 'lease acquired' : 'lease lost', { tasks: name }),
    onWarning: (event, reason) => logger.warn(event, { tasks: name, reason })
  })
