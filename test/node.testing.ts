/** The built command as an operator runs it: to its end, or as a node that listens. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))
export const BIN = join(ROOT, 'packages/node/bin/quoin.js')

type Variables = Readonly<Record<string, string>>

/** Variables that the tests are run with do not reach the command. */
const environment = (more: Variables): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('QUOIN_'))),
  ...more
})

export interface CommandResult {
  readonly status: unknown
  readonly stdout: string
  readonly stderr: string
}

export interface RunningCommand {
  readonly child: ChildProcess
  /** The code or the signal that it ended with. */
  readonly ended: Promise<number | NodeJS.Signals | null>
  stdout(): string
  stderr(): string
}

export interface RunningNode extends RunningCommand {
  readonly url: string
}

/** Commands of one test file. `close` ends the ones that still run. */
export class Commands {
  readonly #directory: string
  readonly #children = new Set<ChildProcess>()

  constructor(directory: string) {
    this.#directory = directory
  }

  run(args: readonly string[], variables: Variables = {}, input = ''): Promise<CommandResult> {
    return new Promise(resolve => {
      const options = { env: environment(variables), cwd: this.#directory }
      const child = execFile(process.execPath, [BIN, ...args], options, (error, stdout, stderr) =>
        resolve({ status: error ? (error.code ?? error.signal) : 0, stdout, stderr })
      )
      child.stdin?.end(input)
    })
  }

  start(args: readonly string[], variables: Variables = {}, directory = this.#directory): RunningCommand {
    const child = spawn(process.execPath, [BIN, ...args], { env: environment(variables), cwd: directory })
    this.#children.add(child)
    let [out, errors] = ['', '']
    child.stdout.on('data', (data: Buffer) => {
      out += data
    })
    child.stderr.on('data', (data: Buffer) => {
      errors += data
    })
    const ended = new Promise<number | NodeJS.Signals | null>(done => {
      child.on('exit', (code, signal) => {
        this.#children.delete(child)
        done(code ?? signal)
      })
    })
    return { child, ended, stdout: () => out, stderr: () => errors }
  }

  /** Resolves when the node listens. */
  serve(
    args: readonly string[],
    variables: Variables = {},
    directory = this.#directory
  ): Promise<RunningNode> {
    const command = this.start(args, variables, directory)
    return new Promise((resolve, reject) => {
      command.child.stdout!.on('data', () => {
        const [, url] = /listening on (http:\S+)/.exec(command.stdout()) ?? []
        if (url) resolve({ ...command, url })
      })
      void command.ended.then(end => reject(new Error(`ended with ${end}: ${command.stderr()}`)))
    })
  }

  async stop({ child, ended }: RunningNode): Promise<number | NodeJS.Signals | null> {
    child.kill('SIGTERM')
    return ended
  }

  async close(): Promise<void> {
    const exits = Array.from(this.#children, child => new Promise(done => child.once('exit', done)))
    for (const child of this.#children) child.kill('SIGKILL')
    await Promise.all(exits)
  }
}
