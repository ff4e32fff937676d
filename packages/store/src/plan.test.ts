/** Plans: one text over synchronous and asynchronous reads. */
import { describe, expect, it } from 'vitest'
import { ask, askAll, type Plan, runAsync, runSync } from './plan.ts'

interface Sync {
  double(value: number): number
}
interface Async {
  double(value: number): Promise<number>
}
const sync: Sync = { double: value => value * 2 }
const later: Async = { double: value => new Promise(resolve => setImmediate(resolve, value * 2)) }

function* quadruple(value: number): Plan<Sync | Async, number> {
  const once = yield* ask(source => source.double(value))
  return yield* ask(source => source.double(once))
}

function* doubles(values: readonly number[]): Plan<Sync | Async, number[]> {
  return yield* askAll(values.map(value => (source: Sync | Async) => source.double(value)))
}

describe('a plan', () => {
  it('has one result over both sources', async () => {
    expect(runSync(quadruple(3), sync)).toBe(12)
    expect(await runAsync(quadruple(3), later)).toBe(12)
  })

  it('reads at once whatever does not depend on each other, and answers in the order asked', async () => {
    expect(runSync(doubles([3, 1, 2]), sync)).toEqual([6, 2, 4])
    expect(runSync(doubles([]), sync)).toEqual([])
    let pending = 0
    let most = 0
    const counting: Async = {
      double: async value => {
        most = Math.max(most, ++pending)
        await new Promise(setImmediate)
        pending--
        return value * 2
      }
    }
    expect(await runAsync(doubles([3, 1, 2]), counting)).toEqual([6, 2, 4])
    expect(most).toBe(3)
  })

  it('throws, or rejects, what a read throws', async () => {
    const fail = (): never => {
      throw new Error('no')
    }
    expect(() => runSync(quadruple(1), { double: fail })).toThrow('no')
    await expect(runAsync(quadruple(1), { double: async () => fail() })).rejects.toThrow('no')
    await expect(runAsync(doubles([1, 2]), { double: async () => fail() })).rejects.toThrow('no')
  })

  it('reads nothing after a failure', () => {
    let reads = 0
    const source: Sync = {
      double: () => {
        reads++
        throw new Error('no')
      }
    }
    expect(() => runSync(quadruple(1), source)).toThrow()
    expect(reads).toBe(1)
  })
})
