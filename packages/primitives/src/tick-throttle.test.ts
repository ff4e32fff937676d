import { describe, expect, it } from 'vitest'
import { TickThrottle } from './tick-throttle.ts'

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i)
const oneTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

describe('TickThrottle', () => {
  it('answers for all, in their order', async () => {
    const throttle = new TickThrottle()
    expect(await throttle.map(numbers(350), async n => 2 * n)).toEqual(numbers(350).map(n => 2 * n))
    expect(await throttle.map([], async () => 1)).toEqual([])
  })

  it('begins with a few, lets others in between, and does not wait for those to end', async () => {
    const begun: number[] = []
    const working = new TickThrottle().map(numbers(350), async n => {
      begun.push(n)
      // The last ends all the others.
      while (begun.length < 350) await oneTurn()
    })
    await oneTurn()
    expect(begun.length).toBeGreaterThan(0)
    expect(begun.length).toBeLessThan(350)
    await working
    expect(begun).toEqual(numbers(350))
  })

  it('lets who came first begin with all before the next begins', async () => {
    const throttle = new TickThrottle()
    const begun: string[] = []
    const all = (name: string) =>
      throttle.map(numbers(150), async () => {
        begun.push(name)
        await oneTurn()
      })
    await Promise.all([all('first'), all('second')])
    expect(begun.indexOf('second')).toBe(150)
  })

  it('tells of what failed, and goes on for the next', async () => {
    const throttle = new TickThrottle()
    const failing = throttle.map(numbers(150), async n => {
      if (n === 3) throw new Error('the fourth')
      return n
    })
    await expect(failing).rejects.toThrow('the fourth')
    const thrown = throttle.map([1], () => {
      throw new Error('at once')
    })
    await expect(thrown).rejects.toThrow('at once')
    expect(await throttle.map([1, 2], async n => n)).toEqual([1, 2])
  })
})
