/**
 * Scripts outside of the templates are run by `Spend` of @bsv/sdk, in processes and for a limited time: ten bytes of
 * script (`5 1000000000 OP_NUM2BIN`) fill an array until V8 gives up, and a few more keep it busy for hours.
 */
import { availableParallelism } from 'node:os'
import { type PoolState, ProcessPool } from './process-pool.ts'

/** Inputs of one transaction, with the outputs that they spend. */
export interface Job {
  readonly raw: Uint8Array
  readonly spends: readonly {
    readonly input: number
    readonly satoshis: number
    readonly script: Uint8Array
  }[]
}

/** First input that may not spend its output, if any. An interrupted job names none. */
export interface InterpreterResponse {
  readonly failed?: { readonly input?: number; readonly reason: string }
}

export interface InterpreterOptions {
  /** 2 to 4, by the cores of the machine, unless given; at least 2. */
  readonly processes?: number
}

/** A forked process does not inherit the loader of TypeScript sources, so it starts one. */
const ENTRY = import.meta.url.endsWith('.ts')
  ? './interpreter-process.source.mjs'
  : './interpreter-process.js'

const OPTIONS = {
  memoryMb: 512,
  // `Spend` keeps 3.6 KB for every public key that it has ever seen.
  renewAfterMs: 60_000
}
/** Client of jobs without a client. */
const ANONYMOUS = ''

/** Runs scripts in a pool of processes, which are started when they are needed. */
export class Interpreter {
  readonly #pool: ProcessPool<Job, InterpreterResponse>

  constructor({ processes = Math.min(4, Math.max(2, availableParallelism())) }: InterpreterOptions = {}) {
    this.#pool = new ProcessPool(new URL(ENTRY, import.meta.url), { ...OPTIONS, processes })
  }

  get state(): PoolState {
    return this.#pool.state
  }

  /**
   * Runs scripts within `limit` milliseconds of processor time. Clients share the processes equally; throws
   * `ERR_INTERPRETER_BUSY` when the queue, or the client's share of it, is full.
   */
  async run(
    job: Job,
    limitMs: number,
    client = ANONYMOUS
  ): Promise<InterpreterResponse & { readonly milliseconds: number }> {
    const outcome = await this.#pool.run({ job, limitMs, client, bytes: bytesOf(job) })
    const { milliseconds } = outcome
    return 'broken' in outcome
      ? { milliseconds, failed: { reason: outcome.broken } }
      : { milliseconds, ...outcome.answer }
  }

  /** Refuses jobs that have not ended, and ends the processes. A later job starts them again. */
  close(): Promise<void> {
    return this.#pool.close()
  }
}

const bytesOf = ({ raw, spends }: Job): number =>
  spends.reduce((sum, { script }) => sum + script.length, raw.length)

let shared: Interpreter | undefined

/** Interpreter of callers that bring none. */
export const sharedInterpreter = (): Interpreter => {
  shared ??= new Interpreter()
  return shared
}
