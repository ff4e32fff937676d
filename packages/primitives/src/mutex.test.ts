import { describe, expect, it } from 'vitest'
import { KeyedMutex } from './mutex.ts'
import { sleep } from './timeout.ts'

describe('KeyedMutex', () => {
  it('runs work of one key in the order of the calls, never two at a time', async () => {
    const mutex = new KeyedMutex()
    const log: string[] = []
    const work = (name: string, milliseconds: number) => async () => {
      log.push(`+${name}`)
      await sleep(milliseconds)
      log.push(`-${name}`)
      return name
    }
    const results = await Promise.all([
      mutex.run('a', work('1', 5)),
      mutex.run('a', work('2', 0)),
      mutex.run('a', work('3', 1))
    ])
    expect(results).toEqual(['1', '2', '3'])
    expect(log).toEqual(['+1', '-1', '+2', '-2', '+3', '-3'])
  })

  it('does not let one key wait for another', async () => {
    const mutex = new KeyedMutex()
    let release = (): void => undefined
    const held = mutex.run('held', () => new Promise<void>(resolve => (release = resolve)))
    expect(await mutex.run('other', () => 'done')).toBe('done')
    release()
    await held
  })

  it('starts at once without a predecessor', async () => {
    let isStarted = false
    const running = new KeyedMutex().run('a', async () => {
      isStarted = true
    })
    expect(isStarted).toBe(true)
    await running
  })

  it('rejects only the caller whose work fails, and forgets the key', async () => {
    const mutex = new KeyedMutex<number>()
    const failed = mutex.run(1, async () => {
      await sleep(1)
      throw new Error('first')
    })
    const next = mutex.run(1, () => 'second')
    await expect(failed).rejects.toThrow('first')
    expect(await next).toBe('second')
    const thrown = mutex.run(1, () => {
      throw new Error('synchronous')
    })
    await expect(thrown).rejects.toThrow('synchronous')
    expect(await mutex.run(1, () => 'after')).toBe('after')
  })
})
