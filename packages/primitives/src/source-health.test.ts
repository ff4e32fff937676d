import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Health, SourceHealth } from './source-health.ts'

let changes: Health[]
let health: SourceHealth
beforeEach(() => {
  vi.useFakeTimers({ now: 0 })
  changes = []
  health = new SourceHealth({ onChange: change => changes.push(change) })
})
afterEach(() => void vi.useRealTimers())
const states = (): string[] => changes.map(({ state }) => state)
const never = (): Promise<never> => new Promise(() => undefined)

describe('the health of a source', () => {
  it('is unknown until it was tried', () => {
    expect(health.current).toMatchObject({ state: 'untried', lastSuccess: undefined, lastError: undefined })
  })

  it('changes once when it fails, whatever the number of attempts, and once when it works again', () => {
    health.succeeded()
    for (let i = 1; i <= 3; i++) {
      vi.setSystemTime(i * 1000)
      health.failed(`refused ${i}`)
    }
    expect(states()).toEqual(['failing'])
    expect(health.current).toEqual({
      state: 'failing',
      since: 1000,
      lastSuccess: 0,
      lastError: 'refused 3',
      lastErrorAt: 3000
    })
    vi.setSystemTime(4000)
    health.succeeded()
    expect(states()).toEqual(['failing', 'working'])
    expect(health.current).toMatchObject({
      since: 4000,
      lastSuccess: 4000,
      lastError: undefined,
      lastErrorAt: 3000
    })
  })

  it('is stalled, since it was asked, when a question stays open', () => {
    vi.setSystemTime(5000)
    void health.ask(never)
    vi.advanceTimersByTime(9999)
    expect(health.current.state).toBe('untried')
    vi.advanceTimersByTime(1)
    expect(health.current).toMatchObject({ state: 'stalled', since: 5000, lastError: 'no answer for 10 s' })
  })

  it('stays stalled over timeouts, and is failing once it refuses at once', async () => {
    const timeout = (ms: number) => () =>
      new Promise<never>((_, reject) => setTimeout(() => reject(new Error('late')), ms))
    for (const ms of [30_000, 30_000, 1]) {
      const asked = health.ask(timeout(ms)).catch(() => health.failed('late'))
      await vi.advanceTimersByTimeAsync(ms)
      await asked
    }
    expect(states()).toEqual(['stalled', 'failing'])
  })

  it('works again at an answer, when it had stalled', async () => {
    const end = health.asked()
    vi.advanceTimersByTime(10_000)
    end()
    expect(await health.ask(async () => 5)).toBe(5)
    expect(states()).toEqual(['stalled', 'working'])
  })

  it('that refuses what it is asked keeps its state', async () => {
    health.succeeded()
    await expect(health.ask(() => Promise.reject(new Error('not there')))).rejects.toThrow('not there')
    expect(health.current.state).toBe('working')
  })
})
