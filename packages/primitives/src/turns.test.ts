import { describe, expect, it } from 'vitest'
import { Turns } from './turns.ts'

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i)
const oneTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

describe('turns', () => {
  it('answers for all, in their order', async () => {
    const turns = new Turns()
    expect(await turns.all(numbers(350), async n => 2 * n)).toEqual(numbers(350).map(n => 2 * n))
    expect(await turns.all([], async () => 1)).toEqual([])
  })

  it('begins with a few, lets others in between, and does not wait for those to end', async () => {
    const begun: number[] = []
    const working = new Turns().all(numbers(350), async n => {
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
    const turns = new Turns()
    const begun: string[] = []
    const all = (name: string) =>
      turns.all(numbers(150), async () => {
        begun.push(name)
        await oneTurn()
      })
    await Promise.all([all('first'), all('second')])
    expect(begun.indexOf('second')).toBe(150)
  })

  it('tells of what failed, and goes on for the next', async () => {
    const turns = new Turns()
    const failing = turns.all(numbers(150), async n => {
      if (n === 3) throw new Error('the fourth')
      return n
    })
    await expect(failing).rejects.toThrow('the fourth')
    const thrown = turns.all([1], () => {
      throw new Error('at once')
    })
    await expect(thrown).rejects.toThrow('at once')
    expect(await turns.all([1, 2], async n => n)).toEqual([1, 2])
  })
})
