/**
 * Scripts of no known form are run by `Spend` of @bsv/sdk, in a process of their own and for a limited time: ten bytes
 * of script (`5 1000000000 OP_NUM2BIN`) make it fill an array until V8 gives up, and a few more keep it busy for hours.
 */
import { LimitedProcess } from './limited-process.ts'

/** Inputs of one transaction, with what they spend. */
export interface Job {
  readonly raw: Uint8Array
  readonly spends: readonly {
    readonly input: number
    readonly satoshis: number
    readonly script: Uint8Array
  }[]
}

/** The first input that may not spend its output, if there is one. Where the job was broken off, none is named. */
export interface Answer {
  readonly failed?: { readonly input?: number; readonly reason: string }
}

/** A process does not inherit the loader that runs this module when it is not compiled, so it starts one itself. */
const ENTRY = import.meta.url.endsWith('.ts')
  ? './interpreter-process.source.mjs'
  : './interpreter-process.js'

const OPTIONS = {
  memoryMb: 512,
  // It keeps 3.6 KB for every public key that it has ever seen.
  renewAfterMs: 60_000
}

export class Interpreter {
  readonly #process = new LimitedProcess<Job, Answer>(new URL(ENTRY, import.meta.url), OPTIONS)

  /** Runs the scripts of a job for no longer than this, not counting the jobs before it. */
  async run(job: Job, limitMs: number): Promise<Answer & { readonly milliseconds: number }> {
    const outcome = await this.#process.run(job, limitMs)
    const { milliseconds } = outcome
    return 'broken' in outcome
      ? { milliseconds, failed: { reason: outcome.broken } }
      : { milliseconds, ...outcome.answer }
  }

  /** Ends the process when it has done what it was given. Used again, it starts a new one. */
  close(): Promise<void> {
    return this.#process.close()
  }
}

let shared: Interpreter | undefined

/** The one that is used where none is given. */
export const sharedInterpreter = (): Interpreter => {
  shared ??= new Interpreter()
  return shared
}
