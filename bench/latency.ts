/** The spread of single calls: percentiles say how long the slow ones take, which a median hides. */

const WARM_UP = 300
const CALLS = 2000

export type Latency = { readonly p50: number; readonly p99: number; readonly processorUs: number }

/** Calls `ask` one at a time, each with another number; returns milliseconds by the clock and processor time a call. */
export async function measureLatency(ask: (call: number) => Promise<unknown>): Promise<Latency> {
  for (let call = 0; call < WARM_UP; call++) await ask(call)
  const times: number[] = []
  const before = process.cpuUsage()
  for (let call = WARM_UP; call < WARM_UP + CALLS; call++) {
    const start = performance.now()
    await ask(call)
    times.push(performance.now() - start)
  }
  const { user, system } = process.cpuUsage(before)
  return {
    p50: roundMs(percentile(times, 0.5)),
    p99: roundMs(percentile(times, 0.99)),
    processorUs: Math.round((user + system) / CALLS)
  }
}

export const percentile = (times: readonly number[], part: number): number =>
  [...times].sort((a, b) => a - b)[Math.floor(times.length * part)]!

const roundMs = (milliseconds: number): number => Math.round(milliseconds * 1000) / 1000
