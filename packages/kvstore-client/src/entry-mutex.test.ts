import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { entryMutex } from './entry-mutex.ts'

const later = (): Promise<void> => new Promise(resolve => setTimeout(resolve, Math.random() * 3))

describe('the entry mutex', () => {
  it('§2.3 writes under one name never overlap, and are in the order of the calls', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 20 }), async names => {
        const busy = new Set<string>()
        const began: Record<string, number[]> = {}
        await Promise.all(
          names.map((name, i) =>
            entryMutex.run(name, async () => {
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
    const held = entryMutex.run('held', () => new Promise<void>(resolve => (release = resolve)))
    expect(await entryMutex.run('other', async () => 'done')).toBe('done')
    release()
    await held
  })

  it('a failure rejects its own caller, and the next runs', async () => {
    const failed = entryMutex.run('x', async () => {
      throw new Error('no')
    })
    const next = entryMutex.run('x', async () => 'yes')
    await expect(failed).rejects.toThrow('no')
    expect(await next).toBe('yes')
  })
})
