/** A plug-in at fault ends its own process, and nothing else: one test for each way. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import type { HostedTopic } from '../types.ts'
import { closeHosts, fixture, hostOf, isAlive, type LogLine, tell, until } from './hosting.testing.ts'
import type { HostOptions } from './module-spec.ts'

afterEach(closeHosts)

const open = async (options: Partial<HostOptions> = {}) => {
  const { host, lines } = await hostOf([fixture('misbehaving.mjs', { name: 'tm_bad' })], options)
  const state = () => host.states()[0]!
  const topic: HostedTopic = host.topics['tm_bad']!
  return { host, lines, state, topic, pid: state().pid! }
}

/** The module runs again and answers, in another process. */
const recovers = async ({ topic, state, pid }: Awaited<ReturnType<typeof open>>): Promise<void> => {
  await until(() => state().state === 'running' && state().pid !== pid)
  expect(isAlive(pid)).toBe(false)
  expect(await tell(topic, 'admit')).toEqual({ outputsToAdmit: [0], coinsToRetain: [] })
  expect(state().restarts).toBeGreaterThan(0)
}

/** Turns of the event loop while something goes on: the longest time between two of them. */
const longestTurn = async (work: Promise<unknown>): Promise<number> => {
  let longest = 0
  let last = performance.now()
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 5)
  await work.catch(() => undefined)
  clearInterval(timer)
  return longest
}

describe('a call', () => {
  it('that loops without end passes its deadline, and the process with it', async () => {
    const plugin = await open({ topicTimeout: 1000 })
    await expect(tell(plugin.topic, 'loop')).rejects.toMatchObject({
      code: 'ERR_PLUGIN_ENDED',
      message: expect.stringContaining('deadline of 1000 ms')
    })
    await recovers(plugin)
  })

  it('that never answers passes its deadline; others of its process are made again', async () => {
    const plugin = await open({ topicTimeout: 1000 })
    const hanging = tell(plugin.topic, 'hang')
    const others = [1, 2, 3].map(() => tell(plugin.topic, 'slow', { ms: 900 }))
    await expect(hanging).rejects.toMatchObject({ code: 'ERR_PLUGIN_ENDED' })
    await Promise.all(others)
    await recovers(plugin)
  })

  it('has the deadline of its kind: topics and lookup services have one each', async () => {
    const lookup = fixture('misbehaving.mjs', { export: 'HangingLookup', name: 'ls_bad' })
    const { host } = await hostOf([fixture('misbehaving.mjs', { name: 'tm_bad' }), lookup], {
      lookupTimeout: 500
    })
    const slow = tell(host.topics['tm_bad']!, 'slow', { ms: 1500 })
    const admitted = {
      mode: 'locking-script',
      txid: 'ab'.repeat(32),
      outputIndex: 0,
      topic: 'tm_bad',
      satoshis: 1,
      lockingScript: new Uint8Array()
    } as const
    await expect(host.lookups['ls_bad']!.outputAdmittedByTopic(admitted)).rejects.toMatchObject({
      code: 'ERR_PLUGIN_ENDED',
      message: expect.stringContaining('deadline of 500 ms')
    })
    // It is of the same process, and is made again.
    expect(await slow).toMatchObject({ outputsToAdmit: [] })
  })

  it('that waits for busy calls before it does not pass its deadline', async () => {
    const { topic, state } = await open({ topicTimeout: 1500 })
    await Promise.all(Array.from({ length: 8 }, () => tell(topic, 'busy', { ms: 300 })))
    expect(state().restarts).toBe(0)
  })

  it('that throws fails with its message, and the process stays', async () => {
    const { topic, state, pid } = await open()
    await expect(tell(topic, 'throw')).rejects.toMatchObject({
      code: 'ERR_TOPIC_FAILED',
      message: 'this topic does not like it'
    })
    await expect(tell(topic, 'stack')).rejects.toMatchObject({
      code: 'ERR_TOPIC_FAILED',
      message: expect.stringContaining('call stack')
    })
    expect(state().pid).toBe(pid)
  })

  it.each([
    ['text', '"outputs"', 'expected an object'],
    ['null', 'null', 'expected an object'],
    ['no outputs', '{}', 'invalid outputsToAdmit'],
    ['a negative index', '{"outputsToAdmit":[-1]}', 'expected an integer'],
    ['text as an index', '{"outputsToAdmit":["0"]}', 'expected an integer'],
    ['coins that are no array', '{"outputsToAdmit":[],"coinsToRetain":{"length":1}}', 'expected an array']
  ])('that answers %s is refused', async (_, answer, reason) => {
    const { topic } = await open()
    await expect(tell(topic, 'admit', { answer: JSON.parse(answer) })).rejects.toMatchObject({
      code: 'ERR_TOPIC_FAILED',
      message: expect.stringContaining(reason)
    })
  })

  it('that answers with 80 MB is refused, and the node does not read them', async () => {
    const { topic, state, pid } = await open({ memoryMb: 2048 })
    const answering = tell(topic, 'huge')
    expect(await longestTurn(answering)).toBeLessThan(1000)
    await expect(answering).rejects.toMatchObject({
      code: 'ERR_TOPIC_FAILED',
      message: expect.stringMatching(/invalid answer: \d+ bytes/)
    })
    expect(state().pid).toBe(pid)
  })

  it.each([
    ['a frame of 4 GB', 'ffffffff01000000', 'invalid frame'],
    ['a frame that is no JSON', '0200000001000000beef', 'expected JSON'],
    [
      'an answer to a call that was not made',
      `0d00000063000000${Buffer.from('{"started":1}').toString('hex')}`,
      'no call 99'
    ]
  ])('that writes %s ends its process', async (_, hex, reason) => {
    const plugin = await open()
    await expect(tell(plugin.topic, 'raw', { hex })).rejects.toMatchObject({ code: 'ERR_PLUGIN_ENDED' })
    expect(plugin.state().lastError).toContain(reason)
    await recovers(plugin)
  })
})

const LOADER = new URL('../../../../scripts/typescript.mjs', import.meta.url).href
/** A node in a process of its own, which is killed. */
const NODE = fileURLToPath(new URL('./orphan.process.testing.ts', import.meta.url))

describe('a process', () => {
  it.each(['admit', 'loop'])(
    'ends with the node that is killed, also when its call does: %s',
    async behaviour => {
      const node = spawn(process.execPath, ['--import', LOADER, NODE, behaviour], {
        stdio: ['ignore', 'pipe', 'inherit']
      })
      const [line] = (await once(createInterface(node.stdout), 'line')) as [string]
      const pid = Number(line)
      expect(isAlive(pid)).toBe(true)
      node.kill('SIGKILL')
      await until(() => !isAlive(pid))
    }
  )

  it.each([
    ['fills the heap', 'heap', /heap|memory/i],
    [
      'keeps buffers, which are outside of the heap',
      'buffers',
      /memory of \d+ MB passed the limit of 192 MB/
    ],
    ['makes an array that V8 aborts at', 'abort', /./],
    ['ends itself', 'exit', /exited with code 0/],
    ['lets a promise reject', 'rejection', /nobody handles this[\s\S]*misbehaving\.mjs/],
    ['throws in a timer', 'exception', /thrown in a timer[\s\S]*misbehaving\.mjs/]
  ])('that %s is started again, with the reason as its last error', async (_, behaviour, reason) => {
    const plugin = await open({ memoryMb: 192 })
    const call = tell(plugin.topic, behaviour)
    expect(await longestTurn(call)).toBeLessThan(1000)
    await expect(call).rejects.toMatchObject({ code: 'ERR_PLUGIN_ENDED' })
    expect(plugin.state().lastError).toMatch(reason)
    await recovers(plugin)
  })

  it('that gets the signals of the terminal or the service manager stays until the node closes it', async () => {
    const { topic, pid, host } = await open()
    process.kill(pid, 'SIGINT')
    process.kill(pid, 'SIGTERM')
    expect(await tell(topic, 'pid')).toMatchObject({ outputsToAdmit: [pid] })
    await host.close()
    await until(() => !isAlive(pid))
  })

  it('that left a process of its own behind is started again', async () => {
    const plugin = await open()
    await expect(tell(plugin.topic, 'fork')).rejects.toMatchObject({ code: 'ERR_PLUGIN_ENDED' })
    await recovers(plugin)
  })

  it('that one call ends is not the end of the calls beside it', async () => {
    const plugin = await open()
    const beside = Array.from({ length: 10 }, () => tell(plugin.topic, 'slow', { ms: 200 }))
    const ending = tell(plugin.topic, 'exit')
    await expect(ending).rejects.toMatchObject({ code: 'ERR_PLUGIN_ENDED' })
    for (const each of await Promise.all(beside)) expect(each.outputsToAdmit).toEqual([])
  })

  it('that ends again and again is refused for a while', async () => {
    const { topic, state } = await open()
    await until(() => {
      tell(topic, 'exit').catch(() => undefined)
      return state().state === 'backing-off' && state().restarts >= 3
    })
    const before = performance.now()
    await expect(tell(topic, 'admit')).rejects.toMatchObject({
      code: 'ERR_PLUGIN_UNAVAILABLE',
      details: { seconds: expect.any(Number) }
    })
    expect(performance.now() - before).toBeLessThan(100)
  })

  it('takes a bounded number of calls', async () => {
    const { topic } = await open()
    const calls = Array.from({ length: 1100 }, () =>
      tell(topic, 'slow', { ms: 1 }).then(
        () => true,
        error => error
      )
    )
    const refused = (await Promise.all(calls)).filter(each => each !== true)
    expect(refused.length).toBeGreaterThan(50)
    for (const each of refused) expect(each).toMatchObject({ code: 'ERR_PLUGIN_UNAVAILABLE' })
  })

  it('has its lines in the log, under the name of the module', async () => {
    const { topic, lines } = await open()
    await tell(topic, 'say', { text: `hello ${'z'.repeat(3000)}` })
    await until(() => lines.length >= 2)
    const [out, err] = ['info', 'warn'].map(level => lines.find(line => line.level === level)!) as [
      LogLine,
      LogLine
    ]
    expect(out.event).toMatch(/^hello z+$/)
    expect(out.event.length).toBe(1000)
    expect(out.fields).toMatchObject({
      plugin: expect.stringContaining('misbehaving.mjs'),
      omittedBytes: 2006
    })
    expect(err.event).toMatch(/^HELLO Z+$/)
  })

  it('that prints 100 MB neither stops the node nor fills its log', async () => {
    const { topic, lines } = await open()
    const printing = tell(topic, 'print', { bytes: 100e6 })
    expect(await longestTurn(printing)).toBeLessThan(1000)
    expect(await printing).toEqual({ outputsToAdmit: [1], coinsToRetain: [] })
    const counted = (): number => {
      const dropped = lines.reduce((sum, { fields }) => sum + Number(fields?.['lines'] ?? 0), 0)
      return dropped + lines.filter(({ event }) => event.startsWith('yyy')).length
    }
    await until(() => counted() === 1e6, 50)
    expect(lines.length).toBeLessThan(2000)
  })
})
