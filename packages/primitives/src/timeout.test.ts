import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { sleep, withTimeout } from './timeout.ts'

const never = new Promise<never>(() => undefined)

describe('sleep', () => {
  it('ends early when the signal aborts, and leaves no listener', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const sleeping = sleep(60_000, { signal })
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    controller.abort()
    await sleeping
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    await sleep(60_000, { signal, ref: false })
  })

  it('leaves no listener after its time', async () => {
    const { signal } = new AbortController()
    await sleep(1, { signal })
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })
})

describe('withTimeout', () => {
  it('passes on the result or the error of work that ends in time', async () => {
    expect(await withTimeout(Promise.resolve(1), 60_000, () => 2)).toBe(1)
    await expect(withTimeout(Promise.reject(new Error('own')), 60_000, () => 2)).rejects.toThrow('own')
  })

  it('gives the value or the error of `onTimeout` otherwise', async () => {
    expect(await withTimeout(never, 1, () => 'late')).toBe('late')
    const failing = withTimeout(never, 1, () => {
      throw new Error('late')
    })
    await expect(failing).rejects.toThrow('late')
  })

  it('ignores work that fails after the timeout', async () => {
    const work = sleep(5).then(() => Promise.reject(new Error('too late')))
    expect(await withTimeout(work, 1, () => undefined)).toBeUndefined()
    await sleep(10)
  })
})
