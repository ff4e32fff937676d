/** The thread that checks signatures: one answer for each request, in their order. */
import { parentPort } from 'node:worker_threads'
import { verifyPacked } from './packed-checks.ts'

parentPort!.on('message', (packed: Uint8Array) => {
  const verdicts = verifyPacked(packed)
  parentPort!.postMessage(verdicts, [verdicts.buffer])
})
