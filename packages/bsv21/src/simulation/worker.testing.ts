/** The token pipeline in a process of its own, on the transactions of a world; it can be killed at any moment. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { DevChain } from '@quoin/dev-chain'

const PROGRAM = fileURLToPath(new URL('./worker.process.testing.ts', import.meta.url))
const LOADER = new URL('../../../../scripts/typescript.mjs', import.meta.url).href

/** The files that workers read: a chain, and transactions as BEEF. */
export interface WorkerFiles {
  readonly chain: string
  readonly beefs: string
}

export const writeWorkerFiles = async (
  folder: string,
  chain: DevChain,
  beefs: readonly Uint8Array[]
): Promise<WorkerFiles> => {
  const files = { chain: join(folder, 'chain.json'), beefs: join(folder, 'beefs') }
  await writeFile(files.chain, JSON.stringify(chain))
  await writeFile(files.beefs, beefs.map(beef => Buffer.from(beef).toString('hex')).join('\n'))
  return files
}

export class WorkerProcess {
  readonly exit: Promise<unknown>
  readonly #child: ChildProcess
  readonly #lines: Interface
  readonly #printed = new Set<string>()

  /** Without BEEFs it works on the queues of the store. `queues` has all transactions go through them. */
  constructor(
    url: string,
    { chain, beefs = '-' }: Partial<WorkerFiles> & Pick<WorkerFiles, 'chain'>,
    way?: 'queues'
  ) {
    const args = ['--import', LOADER, PROGRAM, url, chain, beefs, ...(way ? [way] : [])]
    this.#child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    this.exit = once(this.#child, 'exit')
    this.#lines = createInterface(this.#child.stdout!)
    this.#lines.on('line', line => this.#printed.add(line))
  }

  get isDone(): boolean {
    return this.#printed.has('done')
  }

  /** Resolves when the process has printed a line. */
  async prints(line: 'ready' | 'done'): Promise<void> {
    const ended = this.exit.then(() => 'ended')
    while (!this.#printed.has(line)) {
      if ((await Promise.race([once(this.#lines, 'line'), ended])) === 'ended' && !this.#printed.has(line)) {
        throw new Error(`a worker ended before it was ${line}`)
      }
    }
  }

  async finish(): Promise<void> {
    await this.prints('done')
    await this.exit
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.exit
  }
}
