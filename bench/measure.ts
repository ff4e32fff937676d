/**
 * Times several functions fairly: one process, turn by turn, so that a change of CPU frequency or a busy neighbour
 * falls on all of them alike.
 */

/** One operation, or a batch of them. The result is kept, so V8 cannot drop the work. */
export type Work = () => unknown

/** Milliseconds since some fixed moment. */
export type Clock = () => number

/** Processor time of this process, all of its threads, in milliseconds. Child processes are not included. */
export const processorClock: Clock = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

export type Limits = {
  /** Milliseconds to spend, warm-up included. */
  readonly budget: number
  /** Rounds to take even when the budget is used up; at least one is always taken. */
  readonly minRounds: number
}

type Contestant = {
  /** Calls the work a number of times; returns the duration, and its cost on the meter. */
  readonly time: (calls: number) => Promise<{ readonly elapsed: number; readonly cost: number }>
  /** Calls that make one sample. */
  readonly calls: number
  readonly samples: number[]
}

/** Long enough to drown the clock's own cost, short enough for many samples. */
const sampleMs = 10
const warmUpShare = 0.2

const sink: { last: unknown } = { last: undefined }

function repeat(work: Work, calls: number): void {
  for (let i = 0; i < calls; i++) sink.last = work()
}

async function repeatAwaiting(work: Work, calls: number): Promise<void> {
  for (let i = 0; i < calls; i++) sink.last = await work()
}

// Once a call site has seen two functions V8 inlines neither. Without this the first function ever
// measured would be inlined into the loop, and look faster than the same function measured later.
repeat(() => 0, 10_000)
repeat(() => '', 10_000)

/** Warms up for at least `warmUp` milliseconds, and finds the number of calls of a sample. */
async function prepare(work: Work, warmUp: number, clock: Clock, meter: Clock): Promise<Contestant> {
  const end = clock() + warmUp
  const first = work()
  sink.last = await first
  const isAsync = first instanceof Promise
  const time: Contestant['time'] = async calls => {
    const [begin, before] = [clock(), meter()]
    // Awaiting synchronous work would cost more than the work.
    if (isAsync) await repeatAwaiting(work, calls)
    else repeat(work, calls)
    return { cost: meter() - before, elapsed: clock() - begin }
  }
  let calls = 1
  // The first call does not count: it may include one-time costs.
  let { elapsed } = await time(calls)
  while (elapsed < sampleMs || clock() < end) {
    if (elapsed < sampleMs) calls *= 2
    elapsed = (await time(calls)).elapsed
  }
  return { time, calls: Math.max(1, Math.round((calls * sampleMs) / elapsed)), samples: [] }
}

/** The order of the works in a round: each once, and each round begins with the next one. */
function turns(count: number, round: number): number[] {
  return Array.from({ length: count }, (_, turn) => (turn + round) % count)
}

/** Returns for each work its samples, in milliseconds of the meter per call. The clock keeps the budget. */
export async function measure(
  works: readonly Work[],
  { budget, minRounds }: Limits,
  clock: Clock,
  meter = clock
): Promise<number[][]> {
  const end = clock() + budget
  const contestants: Contestant[] = []
  for (const work of works) {
    contestants.push(await prepare(work, (budget * warmUpShare) / works.length, clock, meter))
  }
  let round = 0
  do {
    for (const turn of turns(works.length, round)) {
      const { time, calls, samples } = contestants[turn]!
      samples.push((await time(calls)).cost / calls)
    }
    round++
  } while (round < minRounds || clock() < end)
  return contestants.map(({ samples }) => samples)
}

/**
 * Calls each work a fixed number of times, turn by turn; returns the milliseconds of each one's calls, on the clock or
 * on meters of their own.
 */
export async function takeTurns(
  works: readonly Work[],
  calls: number,
  clock: Clock,
  meters: readonly Clock[] = works.map(() => clock)
): Promise<number[][]> {
  const samples: number[][] = works.map(() => [])
  for (let round = 0; round < calls; round++) {
    for (const turn of turns(works.length, round)) {
      const meter = meters[turn]!
      const begin = meter()
      sink.last = await works[turn]!()
      samples[turn]!.push(meter() - begin)
    }
  }
  return samples
}
