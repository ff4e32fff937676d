/** Database servers as child processes of tests: free ports on loopback, and a guard that ends with the test process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

export const HOST = '127.0.0.1'
export const ATTEMPTS = 10

/** Kills the server named last on its input, and removes its folder, as soon as that input ends: see `guard`. */
const GUARD =
  'while read -r line; do pid=$line; done; [ -z "$pid" ] || kill -9 "$pid"; [ -z "$1" ] || rm -rf "$1"'

export class PortTaken extends Error {}

export const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

/** Children do not keep this process alive, but whoever waits for their end does. */
export const exitOf = (child: ChildProcess): Promise<unknown> => {
  child.ref()
  return once(child, 'exit')
}

/**
 * A shell that waits for the end of its input. That comes with the end of this process however it ends, also where no
 * exit handler runs. In a session of its own, as Ctrl-C must not end it first.
 */
export const guard = (dir: string): ChildProcess => {
  const child = spawn('sh', ['-c', GUARD, 'guard', dir], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true
  })
  child.unref()
  ;(child.stdin as unknown as { unref(): void }).unref()
  return child
}

/** From below the ports that systems give to outgoing connections, which might take it before a restart does. */
export const freePort = async (): Promise<number> => {
  for (let attempt = 1; ; attempt++) {
    const port = randomInt(10_000, 32_000)
    const probe = createServer()
    try {
      await once(probe.listen(port, HOST), 'listening')
      await new Promise(resolve => probe.close(resolve))
      return port
    } catch (error) {
      if (attempt === ATTEMPTS) throw error
    }
  }
}
