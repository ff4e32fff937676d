/** Compiles the recorder, runs writers under it, and checks the results of crashes in a process of its own. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Event, readTrace } from './trace.ts'

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

const compile = (folder: string): string => {
  const library = join(folder, 'shim.so')
  const args = ['-Wall', '-O2', '-shared', '-fPIC', '-o', library, here('shim.c'), '-ldl', '-lpthread']
  const { error, status, stderr } = spawnSync('cc', args, { encoding: 'utf8' })
  if (error) {
    throw new Error(
      `the fault simulator needs a C compiler, cc: ${error.message}. apt-get install gcc libc6-dev`
    )
  }
  if (status !== 0) throw new Error(`cc could not compile shim.c (apt-get install gcc libc6-dev): ${stderr}`)
  return library
}

interface SimulationRecord {
  readonly events: readonly Event[]
  /** The signals that killed programs. */
  readonly deaths: readonly NodeJS.Signals[]
}

/** A store after a crash, and its batches. */
interface CrashedStore {
  readonly url: string
  readonly acknowledged: readonly number[]
  readonly tried: readonly number[]
  /** The number of a batch that was never tried. */
  readonly next: number
}

export interface Simulator {
  newFolder(): string
  /** Runs the programs at once, each with its arguments, and records their writes below the folder. */
  record(
    folder: string,
    programs: readonly (readonly string[])[],
    options?: { readonly mayDie: boolean }
  ): Promise<SimulationRecord>
  /** The problems of a store. */
  check(left: CrashedStore): Promise<string[]>
  close(): Promise<void>
}

export const startSimulator = (): Simulator => {
  const root = mkdtempSync(join(tmpdir(), 'quoin-faults-'))
  const library = compile(root)
  let folders = 0
  let checker: ChildProcess | undefined
  let answers: AsyncIterator<string> | undefined

  const newFolder = (): string => {
    const folder = join(root, String(++folders))
    mkdirSync(folder)
    return folder
  }

  const record: Simulator['record'] = async (folder, programs, { mayDie } = { mayDie: false }) => {
    const trace = `${folder}.trace`
    const env = {
      ...process.env,
      LD_PRELOAD: library,
      FAULTS_DIR: folder,
      FAULTS_TRACE: trace,
      UV_USE_IO_URING: '0'
    }
    const ends = await Promise.all(programs.map(args => run(args, env)))
    const deaths = ends.flatMap(({ signal }) => signal ?? [])
    const failed = ends.find(({ code }) => code !== 0)
    if (failed && !(mayDie && deaths.length > 0)) throw new Error(failed.said)
    const events = readTrace(trace)
    rmSync(trace)
    return { events, deaths }
  }

  const check = async (left: CrashedStore): Promise<string[]> => {
    if (!checker) {
      const env = { ...process.env, LD_PRELOAD: library, FAULTS_UNSYNCED: '1' }
      checker = spawn(process.execPath, [here('checker.mjs')], { env, stdio: ['pipe', 'pipe', 'inherit'] })
      answers = createInterface(checker.stdout!)[Symbol.asyncIterator]()
    }
    checker.stdin!.write(`${JSON.stringify(left)}\n`)
    const { value, done } = await answers!.next()
    if (!done) return JSON.parse(value)
    const reason = checker.signalCode ?? checker.exitCode
    checker = undefined
    return [`it took down the process that opened it (${reason})`]
  }

  const close = async (): Promise<void> => {
    if (checker) {
      checker.stdin!.end()
      await once(checker, 'exit')
    }
    rmSync(root, { recursive: true, force: true })
  }
  return { newFolder, record, check, close }
}

const RUN_MS = 120_000

interface End {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly said: string
}

const run = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<End> => {
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: RUN_MS })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', data => {
      output += data
    })
  }
  const [code, signal] = await once(child, 'close')
  return { code, signal, said: `${args.join(' ')} ended with ${signal ?? code}: ${output}` }
}

/** The arguments of a writer of numbered batches (`writer.mjs`). */
export const writer = (
  url: string,
  first: number,
  count: number,
  inFlight: number,
  preload?: string
): string[] => [
  ...(preload ? ['--import', here(preload)] : []),
  here('writer.mjs'),
  url,
  ...[first, count, inFlight].map(String)
]

/** The arguments of a process with faults, one after the other (`failing.mjs`). */
export const failing = (
  kind: string,
  folder: string,
  first: number,
  count: number,
  faults: readonly string[]
): string[] => [here('failing.mjs'), kind, folder, String(first), String(count), ...faults]
