import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { Signal } from './signal.ts'

describe('who waits for a signal', () => {
  it('goes on when it is set, was set before, the time is over, or the other one aborts', async () => {
    const signal = new Signal()
    const abort = new AbortController()
    signal.set()
    await signal.wait(60_000, abort.signal)
    await signal.wait(1, abort.signal)
    const waiting = signal.wait(60_000, abort.signal)
    signal.set()
    await waiting
    const stopped = signal.wait(60_000, abort.signal)
    abort.abort()
    await stopped
    await signal.wait(60_000, abort.signal)
  })

  it('leaves nothing behind: a listener for each wait would fill the memory of a node that idles', async () => {
    const signal = new Signal()
    const { signal: abort } = new AbortController()
    for (let i = 0; i < 20; i++) await signal.wait(0, abort)
    expect(getEventListeners(abort, 'abort')).toHaveLength(0)
  })
})
