import { spawnSync } from 'node:child_process'
import { constants, getPriority } from 'node:os'
import { afterAll, describe, expect, test } from 'vitest'
import { SandboxedProcess } from './sandboxed-process.ts'

const entry = new URL('./sandboxed-process.testing.mjs', import.meta.url)
const worker = new SandboxedProcess<{ name: string; value?: unknown }, unknown>(entry, { memoryMb: 64 })
afterAll(() => worker.close())

const pid = async (): Promise<unknown> => {
  const outcome = await worker.run({ name: 'pid' }, 5000)
  return 'answer' in outcome ? outcome.answer : outcome.broken
}

/** One that has ended, and that nobody has asked about yet, is a zombie. */
const isRunning = (pid: number): boolean => {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', `${pid}`], { encoding: 'utf8' })
  return /^[^Z\s]/.test(stdout)
}

describe('a sandboxed process', () => {
  test('answers one job after the other, with the bytes that it was given and no more', async () => {
    const bytes = new Uint8Array(1000).fill(7)
    const values = [1, 'two', bytes.subarray(3, 5)]
    const outcomes = await Promise.all(values.map(value => worker.run({ name: 'echo', value }, 5000)))
    expect(outcomes.map(outcome => 'answer' in outcome && outcome.answer)).toEqual([
      1,
      'two',
      Uint8Array.of(7, 7)
    ])
    expect(outcomes.every(({ milliseconds }) => milliseconds > 0)).toBe(true)
  })

  test('stays the same as long as nothing is wrong', async () => {
    expect(await pid()).toBe(await pid())
  })

  test('is killed when a job takes too long, and a new one does the jobs behind it', async () => {
    const before = await pid()
    const [stuck, next] = await Promise.all([
      worker.run({ name: 'loop' }, 200),
      worker.run({ name: 'pid' }, 5000)
    ])
    expect(stuck).toEqual({ broken: 'took too long', milliseconds: expect.any(Number) })
    expect(stuck.milliseconds).toBeLessThan(2000)
    expect(next).toHaveProperty('answer')
    expect(next).not.toHaveProperty('answer', before)
    expect(isRunning(before as number)).toBe(false)
  })

  test('is charged for processor time, not for a wait for the processor', async () => {
    const stopped = (await pid()) as number
    const limitMs = 2000
    const begun = performance.now()
    const onBegin = (): void => {
      setTimeout(() => process.kill(stopped, 'SIGSTOP'), 100)
      setTimeout(() => process.kill(stopped, 'SIGCONT'), 1.5 * limitMs)
    }
    const outcome = await worker.run({ name: 'work', value: 200 }, limitMs, { onBegin })
    expect(outcome).toHaveProperty('answer', stopped)
    expect(performance.now() - begun).toBeGreaterThan(limitMs)
    expect(outcome.milliseconds).toBeLessThan(limitMs)
  })

  test('is killed when it waits for the processor for too long', async () => {
    const stopped = (await pid()) as number
    const outcome = await worker.run({ name: 'work', value: 300 }, 400, {
      onBegin: () => setTimeout(() => process.kill(stopped, 'SIGSTOP'), 60)
    })
    expect(outcome).toHaveProperty('broken', 'took too long')
  })

  test('runs at a lower priority than the program', async () => {
    expect(getPriority((await pid()) as number)).toBe(
      getPriority() + constants.priority.PRIORITY_BELOW_NORMAL
    )
  })

  test('is interrupted by its caller', async () => {
    const onBegin = (interrupt: () => void): void => void setTimeout(interrupt, 50)
    expect(await worker.run({ name: 'loop' }, 60_000, { onBegin })).toHaveProperty('broken', 'interrupted')
    expect(worker.isReady).toBe(false)
    await worker.start()
    expect(worker.isReady).toBe(true)
  })

  test('may run out of memory without taking the program with it', async () => {
    expect(await worker.run({ name: 'exhaust' }, 30_000)).toMatchObject({ broken: 'took too much memory' })
    expect(await pid()).toBeTypeOf('number')
  })

  test('may end', async () => {
    expect(await worker.run({ name: 'exit' }, 5000)).toMatchObject({ broken: 'took too much memory' })
    expect(await pid()).toBeTypeOf('number')
  })

  test('does a job again when somebody else killed it meanwhile', async () => {
    const victim = (await pid()) as number
    process.kill(victim, 'SIGKILL')
    expect(await pid()).toBeTypeOf('number')
  })

  test('is replaced after it has worked for long enough', async () => {
    const renewed = new SandboxedProcess<{ name: string }, number>(entry, { memoryMb: 64, renewAfterMs: 0 })
    const [first, second] = [
      await renewed.run({ name: 'pid' }, 5000),
      await renewed.run({ name: 'pid' }, 5000)
    ]
    expect('answer' in first && 'answer' in second && first.answer !== second.answer).toBe(true)
    await renewed.close()
  })

  test('is gone when it is closed, and comes back when it is used again', async () => {
    const before = (await pid()) as number
    await worker.close()
    await expect.poll(() => isRunning(before)).toBe(false)
    expect(await pid()).not.toBe(before)
  })

  test('that does not start is an error that says why', async () => {
    const none = new SandboxedProcess(new URL('./no-such-module.mjs', import.meta.url), { memoryMb: 64 })
    await expect(none.run({}, 1000)).rejects.toThrow(/does not start: .*(Cannot find|ERR_MODULE_NOT_FOUND)/s)
  })

  test('keeps no program from ending, and ends with it', async () => {
    const program = `
      import { SandboxedProcess } from ${JSON.stringify(new URL('./sandboxed-process.ts', import.meta.url).href)}
      const worker = new SandboxedProcess(new URL(${JSON.stringify(entry.href)}), { memoryMb: 64 })
      console.log((await worker.run({ name: 'pid' }, 5000)).answer)
    `
    const args = ['--import', 'tsx', '--input-type=module', '-e', program]
    const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 20_000 })
    expect(status).toBe(0)
    await expect.poll(() => isRunning(Number(stdout))).toBe(false)
  })
})
