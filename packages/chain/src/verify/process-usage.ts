/**
 * Processor time and scheduling priority of a child process, read and set from its parent.
 *
 * A limit in processor time does not depend on the load of the machine: a low-priority process that waits for a core is
 * not charged for the wait.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'

/** Jobs shorter than this are measured by the clock: reading /proc costs about 100 µs. */
const SAMPLE_MS = 50
/** The kernel reports in clock ticks; USER_HZ is 100 on every Linux platform of Node. */
const TICK_MS = 10

/** Milliseconds that all threads of a process have run; undefined where there is no /proc, or the process has ended. */
const processorMs = (pid: number): number | undefined => {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return undefined
  }
  // proc(5): the name of the program is in parentheses, utime and stime are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

/** Measures one job of a process: its processor time where the system reports it, else elapsed time. */
export class JobTimer {
  readonly #pid: number
  readonly #begin = performance.now()
  readonly #sampling: NodeJS.Timeout
  #sample: { readonly elapsed: number; readonly processor: number } | undefined

  constructor(pid: number) {
    this.#pid = pid
    this.#sampling = setTimeout(() => {
      const processor = processorMs(pid)
      if (processor !== undefined) this.#sample = { elapsed: this.elapsed, processor }
    }, SAMPLE_MS)
  }

  get elapsed(): number {
    return performance.now() - this.#begin
  }

  /** Never more than the elapsed time; time before the first sample counts as processor time. */
  get used(): number {
    const { elapsed } = this
    const processor = this.#sample && processorMs(this.#pid)
    if (!this.#sample || processor === undefined) return elapsed
    return Math.min(elapsed, this.#sample.elapsed + processor - this.#sample.processor)
  }

  stop(): void {
    clearTimeout(this.#sampling)
  }
}

/** Makes a process yield to this one. Linux has a priority per thread. */
export const lowerPriority = (pid: number): void => {
  const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority
  const priority = Math.min(PRIORITY_LOW, getPriority() + PRIORITY_BELOW_NORMAL)
  for (const thread of threadsOf(pid)) {
    try {
      setPriority(thread, priority)
    } catch {
      // The thread has ended, or a sandbox forbids the call: the limits hold at any priority.
    }
  }
}

const threadsOf = (pid: number): number[] => {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number)
  } catch {
    // Without /proc: the process as a whole.
    return [pid]
  }
}
