/** Worker thread of `signatures.ts`: verifies one message of signatures after the other. */
import { parentPort } from 'node:worker_threads'
import { type Answer, type Question, readChecks, verdictsOf } from './signatures.ts'

parentPort!.on('message', ({ id, records }: Question) => {
  const answer: Answer = { id, verdicts: verdictsOf(readChecks(records)) }
  parentPort!.postMessage(answer)
})
