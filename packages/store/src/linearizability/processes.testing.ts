/** Histories of the calls of several processes on one store, some of which are killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Call } from './checker.testing.ts'
import type { Result } from './requests.testing.ts'
import type { Request, Response } from './store-specification.testing.ts'

const CLIENT = fileURLToPath(new URL('./client.testing.ts', import.meta.url))

type Line =
  | ['ready' | 'done']
  | ['invoked', client: number, index: number, time: number]
  | ['replied', client: number, index: number, time: number, result: Result]

export class ClientProcess {
  readonly child: ChildProcess
  readonly #exit: Promise<unknown>
  #onLine: (line: Line) => void = () => {}

  private constructor(url: string) {
    this.child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), CLIENT, url], {
      stdio: ['pipe', 'pipe', 'inherit']
    })
    // Requests for a process that is killed.
    this.child.stdin!.on('error', () => {})
    this.#exit = once(this.child, 'close')
    createInterface(this.child.stdout!).on('line', line => this.#onLine(JSON.parse(line) as Line))
  }

  static async start(url: string): Promise<ClientProcess> {
    const client = new ClientProcess(url)
    const isReady = new Promise<boolean>(resolve => {
      client.#onLine = () => resolve(true)
    })
    if (!(await Promise.race([isReady, client.#exit.then(() => false)])))
      throw new Error('a client process ended before it had opened the store')
    return client
  }

  /**
   * Has the clients of the process send their requests, and answers the calls when all are done or the process has ended.
   *
   * @param onInvoked Called with the number of calls that have begun.
   */
  async run(
    name: string,
    clients: readonly (readonly Request[])[],
    onInvoked: (count: number) => void
  ): Promise<Call<Request, Response>[]> {
    const calls = new Map<string, Call<Request, Response>>()
    let invoked = 0
    const isDone = new Promise<void>(resolve => {
      this.#onLine = line => {
        if (line[0] === 'done') resolve()
        if (line[0] !== 'invoked' && line[0] !== 'replied') return
        const [kind, client, index, time] = line
        const id = `${name}.${client}.${index}`
        if (kind === 'invoked') {
          const request = clients[client]![index]!
          calls.set(id, { client: `${name}.${client}`, request, invoked: time })
          onInvoked(++invoked)
        } else if ('response' in line[4]) {
          calls.set(id, { ...calls.get(id)!, reply: { at: time, response: line[4].response } })
        } else if (line[4].failed === 'none') calls.delete(id)
      }
    })
    this.child.stdin!.write(`${JSON.stringify(clients)}\n`)
    await Promise.race([isDone, this.#exit])
    // A read without an answer says nothing.
    return [...calls.values()].filter(({ request, reply }) => reply || 'batch' in request)
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL')
    await this.#exit
  }
}
