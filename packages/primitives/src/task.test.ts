import { describe, expect, it } from 'vitest'
import type { Health } from './source-health.ts'
import { drain, startedTasks, Task, type TaskPass, Tasks, withHeartbeat } from './task.ts'
import { sleep } from './timeout.ts'

const HOUR = 3_600_000

/** Resolves when the condition holds; the test's own timeout is the limit. */
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await sleep(1)
}

describe('Task', () => {
  it('repeats its work after the interval, and stops', async () => {
    let passes = 0
    const task = new Task({
      name: 'count',
      interval: 1,
      jitter: 0.2,
      work: async () => void passes++
    }).start()
    await until(() => passes >= 3)
    expect([...startedTasks]).toContain(task)
    await task.stop()
    expect([...startedTasks]).not.toContain(task)
    const stopped = passes
    await sleep(10)
    expect(passes).toBe(stopped)
    expect(task.state).toMatchObject({ name: 'count', isRunning: false, passes: stopped, failures: 0 })
    expect(task.state).toMatchObject({ state: 'working', lastError: undefined })
    expect(await task.runOnce()).toBe(false)
  })

  it('works without a pause while there is something to do, and sleeps until it is woken', async () => {
    const items = [1, 2, 3]
    const task = new Task({
      name: 'queue',
      interval: HOUR,
      work: async () => (items.pop() === undefined ? 0 : 1)
    }).start()
    await until(() => items.length === 0)
    items.push(4, 5)
    task.wake()
    await until(() => items.length === 0)
    await task.stop()
  })

  it('without an interval ends after a pass that succeeds, and repeats one that fails', async () => {
    let passes = 0
    const task = new Task({
      name: 'import',
      backoff: { first: 1, limit: 1 },
      work: async () => {
        if (++passes < 3) throw new Error('the connection was lost')
      }
    }).start()
    await until(() => task.state.state === 'working')
    await sleep(10)
    expect(task.state).toMatchObject({ passes: 3, failures: 2, isRunning: false })
    await task.stop()
  })

  it('begins with a pause when it is delayed', async () => {
    let passes = 0
    const task = new Task({ name: 'mine', interval: HOUR, isDelayed: true, work: async () => void passes++ })
    task.start()
    await sleep(10)
    expect(passes).toBe(0)
    task.wake()
    await until(() => passes === 1)
    await task.stop()
  })

  it('starts its backoff anew when a step of a pass succeeds', async () => {
    const task: Task = new Task({
      name: 'feed',
      backoff: { first: 1, limit: HOUR, jitter: 0 },
      work: async () => {
        task.stepSucceeded()
        throw new Error('the connection was lost')
      }
    }).start()
    // Twenty failures in a row would be a pause of an hour.
    await until(() => task.state.failures >= 20)
    await task.stop()
  })

  it('does not lose a call of wake during a pass', async () => {
    let passes = 0
    let release = (): void => undefined
    const task = new Task({
      name: 'wake',
      interval: HOUR,
      work: () => {
        passes++
        return new Promise<void>(resolve => (release = resolve))
      }
    }).start()
    await until(() => passes === 1)
    task.wake()
    release()
    await until(() => passes === 2)
    release()
    await task.stop()
  })

  it('reports a failure once, retries after the backoff, and reports the recovery', async () => {
    const changes: Health[] = []
    const passes: TaskPass[] = []
    let attempts = 0
    const task = new Task({
      name: 'flaky',
      interval: HOUR,
      backoff: { first: 1, limit: 4 },
      onHealthChange: health => changes.push(health),
      onPass: pass => passes.push(pass),
      work: async () => {
        if (++attempts < 4) throw new Error(`attempt ${attempts}`)
      }
    }).start()
    await until(() => attempts === 4)
    await task.stop()
    expect(changes.map(({ state, lastError }) => [state, lastError])).toEqual([
      ['failing', 'attempt 1'],
      ['working', undefined]
    ])
    expect(task.state).toMatchObject({ passes: 4, failures: 3 })
    expect(passes.map(({ error }) => (error as Error | undefined)?.message)).toEqual([
      'attempt 1',
      'attempt 2',
      'attempt 3',
      undefined
    ])
  })

  it('aborts the signal of a pass when it stops, waits for its end, and takes the error for no failure', async () => {
    let isEnded = false
    const task = new Task({
      name: 'long',
      interval: 1,
      work: async signal => {
        await sleep(HOUR, { signal })
        await sleep(5)
        isEnded = true
        signal.throwIfAborted()
      }
    }).start()
    await sleep(5)
    await task.stop()
    expect(isEnded).toBe(true)
    expect(task.health.current.state).toBe('untried')
  })

  it('aborts the signal of a pass at its deadline, and fails', async () => {
    const task = new Task({
      name: 'deadline',
      interval: HOUR,
      deadline: 5,
      work: async signal => {
        await sleep(HOUR, { signal })
        signal.throwIfAborted()
      }
    })
    expect(await task.runOnce()).toBe(false)
    expect(task.signal.aborted).toBe(false)
    expect(task.health.current.lastError).toMatch(/timeout/)
    await task.stop()
  })

  it('runs once on request: never two passes at a time, and one that began after the call', async () => {
    let active = 0
    const begun: number[] = []
    const task = new Task({
      name: 'once',
      interval: HOUR,
      work: async () => {
        expect(++active).toBe(1)
        begun.push(begun.length)
        await sleep(2)
        active--
      }
    })
    const first = task.runOnce()
    const [second, third] = [task.runOnce(), task.runOnce()]
    expect(second).toBe(third)
    expect(begun).toEqual([0])
    await Promise.all([first, second])
    expect(begun).toEqual([0, 1])
    await task.runOnce()
    expect(begun).toEqual([0, 1, 2])
    await task.stop()
  })

  /** A gate that the test opens and closes. */
  const newGate = () => {
    const listeners = new Set<() => void>()
    let open: AbortController | undefined
    return {
      get signal() {
        return open?.signal
      },
      onOpen(listener: () => void) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
      open() {
        open = new AbortController()
        for (const listener of [...listeners]) listener()
      },
      close() {
        open?.abort()
        open = undefined
      }
    }
  }

  it('begins passes while its gate is open, also when it is woken', async () => {
    const gate = newGate()
    let passes = 0
    const task = new Task({ name: 'gated', interval: 1, gate, work: async () => void passes++ }).start()
    task.wake()
    await sleep(10)
    expect(passes).toBe(0)
    gate.open()
    await until(() => passes > 1)
    gate.close()
    await sleep(5)
    const closed = passes
    await sleep(10)
    expect(passes).toBe(closed)
    await task.stop()
  })

  it('ends a pass whose gate closes without a failure, and begins again when it opens', async () => {
    const gate = newGate()
    gate.open()
    let begun = 0
    const task = new Task({
      name: 'source',
      gate,
      work: async signal => {
        begun++
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
      }
    }).start()
    await until(() => begun === 1)
    gate.close()
    await until(() => !task.isRunning)
    expect(task.state).toMatchObject({ state: 'untried', lastError: undefined })
    gate.open()
    await until(() => begun === 2)
    await task.stop()
  })
})

describe('Tasks', () => {
  it('start and stop together, and name the tasks that do not stop in time', async () => {
    const tasks = new Tasks()
    let release = (): void => undefined
    tasks.add({ name: 'quick', interval: 1, work: async () => undefined })
    tasks.add({
      name: 'stuck',
      interval: 1,
      work: () => new Promise<void>(resolve => (release = resolve))
    })
    tasks.start()
    await until(() => tasks.states.every(({ isRunning, passes }) => isRunning || passes > 0))
    expect(await tasks.stop(10)).toEqual(['stuck'])
    release()
    expect(await tasks.stop()).toEqual([])
  })
})

describe('drain', () => {
  it('works with several steps at a time until nothing is left', async () => {
    let left = 20
    let active = 0
    let most = 0
    const sum = await drain(
      async () => {
        most = Math.max(most, ++active)
        await sleep(1)
        active--
        return left === 0 ? 0 : left--
      },
      { concurrency: 4 }
    )
    expect([sum, left, most]).toEqual([210, 0, 4])
  })

  it('begins no step after a failure or an abort, and waits for the steps in progress', async () => {
    let steps = 0
    let ended = 0
    const failing = drain(
      async () => {
        const isFirst = ++steps === 1
        await sleep(isFirst ? 1 : 5)
        ended++
        if (isFirst) throw new Error('first')
        return 1
      },
      { concurrency: 3 }
    )
    await expect(failing).rejects.toThrow('first')
    expect([steps, ended]).toEqual([3, 3])
    const controller = new AbortController()
    const { signal } = controller
    let count = 0
    const sum = await drain(
      async () => {
        if (++count === 3) controller.abort()
        return 1
      },
      { signal }
    )
    expect(sum).toBe(3)
  })
})

it('withHeartbeat beats during the work only', async () => {
  let beats = 0
  expect(
    await withHeartbeat(
      2,
      () => beats++,
      async () => {
        await until(() => beats >= 2)
        return 'done'
      }
    )
  ).toBe('done')
  const after = beats
  await sleep(10)
  expect(beats).toBe(after)
})
