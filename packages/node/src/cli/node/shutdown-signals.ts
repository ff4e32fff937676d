/** A node that runs until it is told to end: the first signal ends it in peace, the second at once. */
import { constants } from 'node:os'
import type { Node } from '../../server/index.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Listens from here on, so that a signal while the node starts is not lost. */
export const signals = () => {
  let received: NodeJS.Signals | undefined
  let resolve: () => void = () => undefined
  const first = new Promise<void>(done => {
    resolve = done
  })
  const onSignal = (signal: NodeJS.Signals): void => {
    if (received) {
      process.stderr.write('quoin: ended at once; what was answered is kept\n')
      process.exit(128 + constants.signals[signal])
    }
    received = signal
    resolve()
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return { first, end: () => SIGNALS.forEach(signal => void process.off(signal, onSignal)) }
}

/** Closes the node after the first signal: requests that are being answered are, and everything is written. */
export const untilEnded = async (node: Node, { first, end }: ReturnType<typeof signals>): Promise<void> => {
  await first
  process.stderr.write('quoin: closing; once more ends it at once\n')
  try {
    await node.close()
  } finally {
    end()
  }
}
