import { afterEach, describe, expect, test } from 'vitest'
import { type PoolOptions, ProcessPool } from './process-pool.ts'
import type { Outcome } from './sandboxed-process.ts'

type Job = { readonly name: string; readonly value?: unknown }
type Pool = ProcessPool<Job, number>

const entry = new URL('./sandboxed-process.testing.mjs', import.meta.url)
const pools: Pool[] = []
afterEach(() => Promise.all(pools.splice(0).map(pool => pool.close())))

const poolOf = (options: Partial<PoolOptions> = {}): Pool => {
  const pool: Pool = new ProcessPool(entry, { memoryMb: 64, processes: 2, ...options })
  pools.push(pool)
  return pool
}

const run = (pool: Pool, client: string, job: Job, limitMs = 10_000): Promise<Outcome<number>> =>
  pool.run({ job, limitMs, client, bytes: 1 })

/** The process that did a job. */
const pid = async (pool: Pool, client: string, value?: number, limitMs?: number): Promise<number> => {
  const outcome = await run(pool, client, value ? { name: 'work', value } : { name: 'pid' }, limitMs)
  if ('broken' in outcome) throw new Error(outcome.broken)
  return outcome.answer
}

/** Jobs that take all the time they get; counts those that ended. */
const flood = (pool: Pool, client: string, count: number, limitMs: number) => {
  const flooded = { ended: 0, refused: 0, done: Promise.resolve<unknown>(undefined) }
  const jobs = Array.from({ length: count }, () =>
    run(pool, client, { name: 'loop' }, limitMs).then(
      outcome => {
        expect(outcome).toMatchObject({ broken: 'took too long' })
        flooded.ended++
      },
      error => {
        expect(error).toMatchObject({ code: 'ERR_INTERPRETER_BUSY' })
        flooded.refused++
      }
    )
  )
  flooded.done = Promise.all(jobs)
  return flooded
}

const busy = { code: 'ERR_INTERPRETER_BUSY', details: { seconds: expect.any(Number) } }

describe('a pool of processes', () => {
  test('runs short jobs of other clients while one client has long ones', async () => {
    const pool = poolOf()
    const hostile = flood(pool, 'hostile', 10, 3000)
    for (let i = 0; i < 5; i++) await pid(pool, 'honest')
    expect(hostile.ended).toBeLessThan(2)
    await pool.close()
    await hostile.done
  })

  test('keeps a process for short jobs, however many clients have long ones', async () => {
    const pool = poolOf()
    const hostile = ['a', 'b', 'c'].map(client => flood(pool, client, 2, 5000))
    await expect.poll(() => pool.state, { timeout: 10_000 }).toMatchObject({ busy: 1, short: 0, long: 5 })
    for (let i = 0; i < 5; i++) await pid(pool, 'honest')
    expect(hostile.map(({ ended }) => ended)).toEqual([0, 0, 0])
    await pool.close()
    await Promise.all(hostile.map(({ done }) => done))
  })

  test('ends the long jobs of a client', async () => {
    const pool = poolOf()
    const hostile = flood(pool, 'hostile', 4, 300)
    await hostile.done
    expect(hostile.ended).toBe(4)
    expect(pool.state).toEqual({ processes: 2, busy: 0, short: 0, long: 0, refused: 0 })
  })

  test('refuses long jobs beyond those that a client may have waiting', async () => {
    const pool = poolOf({ longPerClient: 2 })
    const hostile = flood(pool, 'hostile', 6, 20_000)
    await expect.poll(() => hostile.refused, { timeout: 15_000 }).toBe(3)
    expect(pool.state).toMatchObject({ busy: 1, short: 0, long: 2, refused: 3 })
    // Nor does the client get slices for others meanwhile.
    await expect(run(pool, 'hostile', { name: 'pid' })).rejects.toMatchObject(busy)
    expect(await pid(pool, 'honest')).toBeTypeOf('number')
    await pool.close()
    await hostile.done
  })

  test('gives a job that was broken off after its slice its whole limit', async () => {
    const pool = poolOf()
    const hostile = flood(pool, 'hostile', 2, 1500)
    const outcome = await run(pool, 'honest', { name: 'work', value: 300 }, 1500)
    expect(outcome).toHaveProperty('answer')
    expect(outcome.milliseconds).toBeGreaterThan(200)
    await hostile.done
    expect(hostile.ended).toBe(2)
  })

  test('lets a long job keep its process where another is left', async () => {
    const pool = poolOf()
    const first = await pid(pool, 'a')
    expect(await pid(pool, 'a', 400)).toBe(first)
    expect(await pid(pool, 'a')).toBe(first)
  })

  test('runs a short job of a client whose long jobs wait', async () => {
    const pool = poolOf()
    const hostile = flood(pool, 'hostile', 3, 3000)
    await expect.poll(() => pool.state.long, { timeout: 10_000 }).toBe(2)
    expect(await pid(pool, 'hostile')).toBeTypeOf('number')
    expect(hostile.ended).toBe(0)
    await pool.close()
    await hostile.done
  })

  test('leaves the process of short jobs to them while that of a long one is started again', async () => {
    const pool = poolOf()
    const first = run(pool, 'hostile', { name: 'loop' }, 1500)
    const others = flood(pool, 'hostile', 2, 3000)
    await expect.poll(() => pool.state.long, { timeout: 10_000 }).toBe(2)
    const short = await pid(pool, 'honest')
    await first
    expect(await pid(pool, 'honest')).toBe(short)
    await pool.close()
    await others.done
  })

  test('has a process for short jobs as soon as the only one has a long job', async () => {
    const pool = poolOf()
    const hostile = flood(pool, 'hostile', 1, 5000)
    await expect.poll(() => pool.state.busy, { timeout: 10_000 }).toBe(1)
    await pid(pool, 'honest')
    expect(hostile.ended).toBe(0)
    await pool.close()
    await hostile.done
  })

  test('serves long jobs by the least usage too', async () => {
    const pool = poolOf()
    const hostile = flood(pool, 'hostile', 4, 800)
    await expect.poll(() => pool.state.long, { timeout: 10_000 }).toBe(3)
    await pid(pool, 'honest', 300)
    expect(hostile.ended).toBeLessThan(3)
    await hostile.done
  })

  test('leaves one of three processes to the long jobs of others', async () => {
    const pool = poolOf({ processes: 3 })
    const hostile = flood(pool, 'hostile', 3, 2500)
    await expect.poll(() => pool.state.long, { timeout: 10_000 }).toBe(2)
    await pid(pool, 'honest', 300)
    expect(hostile.ended).toBe(0)
    await pool.close()
    await hostile.done
  })

  test('ends long jobs although short ones keep coming', async () => {
    const pool = poolOf()
    const hostile = flood(pool, 'hostile', 3, 600)
    await expect.poll(() => pool.state.long, { timeout: 10_000 }).toBe(2)
    let isDone = false
    const shorts = Array.from({ length: 8 }, async (_, i) => {
      while (!isDone) await pid(pool, `client ${i}`)
    })
    try {
      await expect.poll(() => hostile.ended, { timeout: 15_000 }).toBe(3)
    } finally {
      isDone = true
      await Promise.all(shorts)
    }
  })

  test('refuses a client that has its share of the queue, with the seconds until the next attempt', async () => {
    const pool = poolOf({ queue: { items: 8, share: 0.5 } })
    const jobs = Array.from({ length: 6 }, () => run(pool, 'a', { name: 'pid' }))
    // No process is started yet: all wait.
    await expect(jobs[4]).rejects.toMatchObject(busy)
    await expect(jobs[5]).rejects.toMatchObject(busy)
    expect(await pid(pool, 'b')).toBeTypeOf('number')
    await Promise.all(jobs.slice(0, 4))
    expect(pool.state.refused).toBe(2)
  })

  test('starts no more processes than jobs come at a time', async () => {
    const pool = poolOf({ processes: 4 })
    const pids = new Set<number>()
    for (let i = 0; i < 8; i++) pids.add(await pid(pool, 'a'))
    expect(pids.size).toBe(1)
  })

  test('refuses what has not ended when it is closed, and works again', async () => {
    const pool = poolOf()
    const jobs = [1, 2, 3, 4].map(() => run(pool, 'a', { name: 'loop' }, 60_000))
    await expect.poll(() => pool.state, { timeout: 10_000 }).toMatchObject({ busy: 1, long: 3 })
    const outcomes = Promise.allSettled(jobs)
    await pool.close()
    expect(await outcomes).toEqual(
      jobs.map(() => ({ status: 'rejected', reason: expect.objectContaining(busy) }))
    )
    expect(await pid(pool, 'a')).toBeTypeOf('number')
  })

  test('goes on after a process was killed by somebody else, or ran out of memory', async () => {
    const pool = poolOf()
    process.kill(await pid(pool, 'a'), 'SIGKILL')
    expect(await pid(pool, 'a')).toBeTypeOf('number')
    expect(await run(pool, 'a', { name: 'exhaust' }, 30_000)).toMatchObject({
      broken: 'took too much memory'
    })
    expect(await pid(pool, 'a')).toBeTypeOf('number')
  })

  test('whose processes do not start is an error that says why', async () => {
    const pool: Pool = new ProcessPool(new URL('./none.mjs', import.meta.url), { memoryMb: 64, processes: 2 })
    const failed = { code: 'ERR_INTERPRETER', message: expect.stringMatching(/does not start/) }
    const jobs = [1, 2, 3].map(() => run(pool, 'a', { name: 'pid' }))
    await Promise.all(jobs.map(job => expect(job).rejects.toMatchObject(failed)))
    expect(pool.state).toMatchObject({ busy: 0, short: 0, long: 0 })
  })

  test.each([0, 1, 1.5, Number.NaN])('of %s processes is refused', processes => {
    expect(() => new ProcessPool(entry, { memoryMb: 64, processes })).toThrow(
      /expected a whole number from 2/
    )
  })
})
