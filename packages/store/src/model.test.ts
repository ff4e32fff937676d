/**
 * The model against Redis itself: random commands, sent raw, whose replies have to be those of the model. Redis has
 * one name space, so a key is told apart there by a letter for its structure.
 */
import { connect, type Socket } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  batchOf,
  bytes,
  hdel,
  hset,
  sadd,
  set,
  srem,
  zadd,
  zincrby,
  zrem
} from '../../store-contract/src/steps.ts'
import { Subject } from '../../store-contract/src/subject.ts'
import { openModel } from './model.testing.ts'
import { type RedisServer, startRedis } from './redis/server.testing.ts'

const RUNS = Number(process.env['QUOIN_RANDOM_RUNS'] ?? 20)

const key = fc.constantFrom('', 'a', 'a\0', '{b}')
const name = fc.constantFrom('', 'm', 'm\0', 'n', 'o', '\xff', '\r\n')
const value = fc.constantFrom('', 'v', '\0\r\n\xff')
const score = fc.oneof(
  fc.constantFrom(0, 1, 1, 2, -1, 0.1, 1703097600.1234567, 2 ** 53, 5e-324, 1.7976931348623157e308),
  fc.constantFrom(Infinity, -Infinity),
  fc.double({ noNaN: true }).map(each => each + 0)
)
const finite = score.map(each => (Number.isFinite(each) ? each : 1))
const bound = fc.record({ score, exclusive: fc.boolean() })
const rows = fc.record({
  min: bound,
  max: bound,
  offset: fc.nat(3),
  count: fc.option(fc.nat(4), { nil: undefined }),
  reverse: fc.boolean()
})

/** What to send, how to read the reply, and what the model says. */
interface Command {
  readonly send: readonly (string | number)[]
  readonly read: (reply: Reply) => unknown
  readonly ask: (model: Subject) => Promise<unknown>
}

const nothing = () => undefined
const text = (reply: Reply): unknown => (reply === null ? undefined : reply)
const number = (reply: Reply): unknown => (reply === null ? undefined : toNumber(String(reply)))
const truth = (reply: Reply): unknown => reply === 1
const pairs = (reply: Reply): [string, string][] => {
  const list = reply as string[]
  return list.flatMap((each, i): [string, string][] => (i % 2 ? [] : [[each, list[i + 1]!]]))
}
const byName = (reply: Reply) => pairs(reply).sort(([a], [b]) => (a < b ? -1 : 1))

const commands: fc.Arbitrary<Command>[] = [
  fc.tuple(key, value).map(([k, v]) => ({
    send: ['SET', `v${k}`, v],
    read: nothing,
    ask: async model => void (await model.commit(set(k, v)))
  })),
  key.map(k => ({ send: ['GET', `v${k}`], read: text, ask: model => model.get(k) })),
  key.map(k => ({
    send: ['DEL', `v${k}`],
    read: nothing,
    ask: async model => void (await model.engine.commit(batchOf([{ name: 'del', args: [bytes(k)] }])))
  })),
  fc.tuple(key, name, value).map(([k, f, v]) => ({
    send: ['HSET', `h${k}`, f, v],
    read: nothing,
    ask: async model => void (await model.commit(hset(k, f, v)))
  })),
  fc.tuple(key, name).map(([k, f]) => ({
    send: ['HGET', `h${k}`, f],
    read: text,
    ask: model => model.hget(k, f)
  })),
  fc.tuple(key, name).map(([k, f]) => ({
    send: ['HDEL', `h${k}`, f],
    read: nothing,
    ask: async model => void (await model.commit(hdel(k, f)))
  })),
  key.map(k => ({ send: ['HGETALL', `h${k}`], read: byName, ask: model => model.hgetall(k) })),
  fc.tuple(key, fc.array(name, { minLength: 1, maxLength: 4 })).map(([k, fields]) => ({
    send: ['HMGET', `h${k}`, ...fields],
    read: reply => (reply as Reply[]).map(text),
    ask: model => model.hmget(k, fields)
  })),
  fc.tuple(key, name).map(([k, m]) => ({
    send: ['SADD', `s${k}`, m],
    read: nothing,
    ask: async model => void (await model.commit(sadd(k, m)))
  })),
  fc.tuple(key, name).map(([k, m]) => ({
    send: ['SREM', `s${k}`, m],
    read: nothing,
    ask: async model => void (await model.commit(srem(k, m)))
  })),
  fc.tuple(key, name).map(([k, m]) => ({
    send: ['SISMEMBER', `s${k}`, m],
    read: truth,
    ask: model => model.sismember(k, m)
  })),
  key.map(k => ({
    send: ['SMEMBERS', `s${k}`],
    read: reply => [...(reply as string[])].sort(),
    ask: model => model.smembers(k)
  })),
  fc.tuple(key, score, name).map(([k, s, m]) => ({
    send: ['ZADD', `z${k}`, s, m],
    read: nothing,
    ask: async model => void (await model.commit(zadd(k, m, s)))
  })),
  fc.tuple(key, name).map(([k, m]) => ({
    send: ['ZREM', `z${k}`, m],
    read: nothing,
    ask: async model => void (await model.commit(zrem(k, m)))
  })),
  fc.tuple(key, name).map(([k, m]) => ({
    send: ['ZSCORE', `z${k}`, m],
    read: number,
    ask: model => model.zscore(k, m)
  })),
  key.map(k => ({ send: ['ZCARD', `z${k}`], read: number, ask: model => model.zcard(k) })),
  fc.tuple(key, finite, name).map(([k, by, m]) => ({
    send: ['ZINCRBY', `z${k}`, by, m],
    read: number,
    ask: async model => (await model.commit(zincrby(k, m, by)))[0]
  })),
  fc.tuple(key, rows).map(([k, { min, max, offset, count, reverse }]) => {
    const from = `${min.exclusive ? '(' : ''}${fromNumber(min.score)}`
    const to = `${max.exclusive ? '(' : ''}${fromNumber(max.score)}`
    return {
      send: [
        reverse ? 'ZREVRANGEBYSCORE' : 'ZRANGEBYSCORE',
        `z${k}`,
        ...(reverse ? [to, from] : [from, to]),
        'WITHSCORES',
        'LIMIT',
        offset,
        count ?? -1
      ],
      read: (reply: Reply) => pairs(reply).map(([member, each]) => [member, toNumber(each)]),
      ask: (model: Subject) =>
        model.zrows(k, { min, max, reverse, offset, ...(count === undefined ? {} : { count }) })
    }
  })
]

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

it('answers as Redis does', { timeout: 600_000 }, async () => {
  const redis = new RawRedis(server.port)
  const shown = fc.array(fc.oneof(...commands), { minLength: 1, maxLength: 400, size: 'max' }).map(program =>
    Object.assign(program, {
      [fc.toStringMethod]: () => program.map(({ send }) => JSON.stringify(send)).join('\n')
    })
  )
  await fc.assert(
    fc.asyncProperty(shown, async program => {
      await redis.send(['FLUSHALL'])
      const model = new Subject(openModel())
      for (const { send, read, ask } of program) {
        const reply = await redis.send(send)
        expect(await ask(model), JSON.stringify(send)).toStrictEqual(read(reply))
      }
    }),
    { numRuns: RUNS }
  )
  redis.end()
})

type Reply = string | number | null | Error | Reply[]

const fromNumber = (value: number): string =>
  Number.isFinite(value) ? String(value) : value > 0 ? '+inf' : '-inf'

/** Redis may say -0, which the store does not have. */
const toNumber = (reply: string): number => Number(reply.replace('inf', 'Infinity')) + 0

/** One connection, one command at a time, in RESP2; byte strings are latin-1. */
class RawRedis {
  readonly #socket: Socket
  #received = ''
  #waiting: ((reply: Reply) => void) | undefined

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1')
    this.#socket.setEncoding('latin1')
    this.#socket.on('data', (chunk: string) => {
      this.#received += chunk
      const parsed = parse(this.#received, 0)
      if (!parsed) return
      this.#received = ''
      this.#waiting?.(parsed.reply)
    })
  }

  async send(words: readonly (string | number)[]): Promise<Reply> {
    const texts = words.map(word => (typeof word === 'number' ? fromNumber(word) : word))
    this.#socket.write(
      `*${texts.length}\r\n${texts.map(each => `$${each.length}\r\n${each}\r\n`).join('')}`,
      'latin1'
    )
    const reply = await new Promise<Reply>(resolve => {
      this.#waiting = resolve
    })
    if (reply instanceof Error) throw reply
    return reply
  }

  end(): void {
    this.#socket.end()
  }
}

/** The reply that begins at a place, and where it ends; undefined while it is not all there. */
const parse = (received: string, start: number): { reply: Reply; end: number } | undefined => {
  const line = received.indexOf('\r\n', start)
  if (line < 0) return undefined
  const [kind, head, at] = [received[start], received.slice(start + 1, line), line + 2]
  if (kind === '+') return { reply: head, end: at }
  if (kind === '-') return { reply: new Error(head), end: at }
  if (kind === ':') return { reply: Number(head), end: at }
  if (head === '-1') return { reply: null, end: at }
  if (kind === '$') {
    const end = at + Number(head)
    return received.length < end + 2 ? undefined : { reply: received.slice(at, end), end: end + 2 }
  }
  const list: Reply[] = []
  let end = at
  for (let i = 0; i < Number(head); i++) {
    const element = parse(received, end)
    if (!element) return undefined
    list.push(element.reply)
    end = element.end
  }
  return { reply: list, end }
}
