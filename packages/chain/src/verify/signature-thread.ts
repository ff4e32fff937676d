/** Worker thread of `signatures.ts`: verifies one message of signatures after the other. */
import { parentPort } from 'node:worker_threads'
import { type ChecksMessage, readChecks, type VerdictsMessage, verdictsOf } from './signatures.ts'

parentPort!.on('message', ({ id, records }: ChecksMessage) => {
  const answer: VerdictsMessage = { id, verdicts: verdictsOf(readChecks(records)) }
  parentPort!.postMessage(answer)
})
