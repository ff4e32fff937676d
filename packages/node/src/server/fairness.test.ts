/** Transactions with scripts of no known form, from a hostile client and from an honest one. */
import { request } from 'node:http'
import { Interpreter, type Transaction } from '@quoin/chain'
import { buildScript, OP, writeScriptNumber } from '@quoin/primitives'
import { afterEach, expect, it, vi } from 'vitest'
import { payTo, spend, withScript } from '../../../chain/src/verify/test-chain.testing.ts'
import { key, startNode, type TestNode } from './node.testing.ts'

const interpreter = new Interpreter({ processes: 2 })
let node: TestNode
afterEach(async () => {
  // Refuses the submissions that the node would wait for.
  await interpreter.close()
  await node.close()
})

/** Ten bytes that fill and drop 8 MB, a thousand times: a minute of work. */
const SLOW = buildScript(
  Array.from({ length: 1000 }, () => [OP.N5, writeScriptNumber(8_000_000), OP.NUM2BIN, OP.DROP]).flat()
)
const ANYONE = buildScript([OP.TRUE])

const spending = async ({ chain }: TestNode, script: Uint8Array): Promise<Transaction> => {
  const from = chain.fund(script, 1000)
  const outputs = [{ satoshis: 1, script: payTo(key) }]
  const transaction = spend({ inputs: [{ from, vout: 0, unlock: withScript() }], outputs })
  await chain.submit(transaction, { replace: true })
  return transaction
}

interface Reply {
  readonly status: number
  readonly code: string | undefined
  readonly retryAfter: string | undefined
}

/** Submits from an address of this machine. */
const submitFrom = ({ url, chain }: TestNode, localAddress: string, { txid }: Transaction): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/octet-stream', 'x-topics': '["tm_ones"]' }
    const sent = request(`${url}/submit`, { method: 'POST', localAddress, headers, agent: false }, reply => {
      let text = ''
      reply.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      reply.on('error', reject)
      reply.on('end', () =>
        resolve({
          status: reply.statusCode!,
          code: JSON.parse(text).code,
          retryAfter: reply.headers['retry-after']
        })
      )
    })
    sent.on('error', reject)
    sent.end(chain.beef(txid))
  })

const metric = async (node: TestNode, name: string): Promise<number> => {
  const text = await (await node.get('/metrics')).text()
  const line = text.split('\n').find(each => each.startsWith(`${name} `))
  return Number(line?.slice(name.length))
}

it('an honest client is answered while a hostile one has sent ten scripts that run for minutes', async () => {
  node = await startNode('memory:', {}, { engine: { interpreter } })
  const submit = vi.spyOn(node.engine, 'submit')
  const [HOSTILE, HONEST] = ['127.0.0.2', '127.0.0.3']
  const [first, second, third] = [
    await spending(node, ANYONE),
    await spending(node, ANYONE),
    await spending(node, ANYONE)
  ]
  expect(await submitFrom(node, HONEST, first)).toMatchObject({ status: 200 })

  const slow = await Promise.all(Array.from({ length: 10 }, () => spending(node, SLOW)))
  const replies: Reply[] = []
  const flood = Promise.all(
    slow.map(async transaction => replies.push(await submitFrom(node, HOSTILE, transaction)))
  )
  await expect.poll(() => interpreter.state.short, { timeout: 30_000, interval: 5 }).toBeGreaterThan(0)
  expect(await submitFrom(node, HONEST, second)).toMatchObject({ status: 200 })
  expect(replies.length).toBeLessThan(10)

  // One runs and four wait; the client is refused the others.
  const refused = () => replies.filter(({ status }) => status === 503)
  await expect.poll(() => refused().length, { timeout: 40_000 }).toBe(5)
  for (const { code, retryAfter } of refused()) {
    expect(code).toBe('ERR_INTERPRETER_BUSY')
    expect(Number(retryAfter)).toBeGreaterThan(0)
  }
  expect(await metric(node, 'quoin_interpreter_refused_total')).toBe(5)
  expect(await metric(node, 'quoin_interpreter_processes{state="busy"}')).toBeLessThanOrEqual(2)
  expect(await metric(node, 'quoin_interpreter_queue_jobs{lane="long"}')).toBeLessThanOrEqual(4)
  expect(await submitFrom(node, HONEST, third)).toMatchObject({ status: 200 })
  const clients = submit.mock.calls.map(([{ client }]) => client)
  expect(clients).toEqual([HONEST, ...Array(10).fill(HOSTILE), HONEST, HONEST])
  await interpreter.close()
  await flood
})
