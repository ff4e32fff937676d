import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inTurn } from './turns.ts'

const later = (): Promise<void> => new Promise(resolve => setTimeout(resolve, Math.random() * 3))

describe('turns', () => {
  it('§2.3 writes under one name never overlap, and are in the order they were asked for', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 20 }), async names => {
        const busy = new Set<string>()
        const began: Record<string, number[]> = {}
        await Promise.all(
          names.map((name, i) =>
            inTurn(name, async () => {
              expect(busy.has(name)).toBe(false)
              busy.add(name)
              began[name] = [...(began[name] ?? []), i]
              await later()
              busy.delete(name)
            })
          )
        )
        for (const order of Object.values(began)) expect(order).toEqual(order.toSorted((a, b) => a - b))
      }),
      { numRuns: 30 }
    )
  })

  it('writes under other names do not wait', async () => {
    let release = (): void => {}
    const held = inTurn('held', () => new Promise<void>(resolve => (release = resolve)))
    expect(await inTurn('other', async () => 'done')).toBe('done')
    release()
    await held
  })

  it('one that fails says so to whoever asked for it, and the next has its turn', async () => {
    const failed = inTurn('x', async () => {
      throw new Error('no')
    })
    const next = inTurn('x', async () => 'yes')
    await expect(failed).rejects.toThrow('no')
    expect(await next).toBe('yes')
  })
})
