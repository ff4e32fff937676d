/**
 * A node whose store fails while it serves: `full`, `read-only`, `deleted`, or `thread`, whose writer thread ends. Prints
 * what clients and the log have of it as a line of JSON. The process that starts it gives it a small volume, or limits its
 * files.
 */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import threads, { Worker } from 'node:worker_threads'
import { makeReadOnly } from '../../../store/src/ordered/read-only.testing.ts'

const [how = '', path = '', volume] = process.argv.slice(2)

/** The thread is private to the store, so it is caught when it is made. */
const made: Worker[] = []
threads.Worker = class extends Worker {
  constructor(...args: ConstructorParameters<typeof Worker>) {
    super(...args)
    made.push(this)
  }
}
syncBuiltinESMExports()

const { makeKey, payTo, spend, withKeyHash } = await import('../../../chain/src/verify/test-chain.testing.ts')
const { DevChain } = await import('@quoin/dev-chain')
const { loadConfig } = await import('./config.ts')
const { startNode } = await import('./node.ts')

const key = makeKey('failing')
const chain = new DevChain({ seed: 'failing' })
const about = {
  getDocumentation: async () => '',
  getMetaData: async () => ({ name: 'x', shortDescription: 'x' })
}
const plugin = {
  name: 'first',
  setup: () => ({
    topics: { tm_first: { ...about, admit: () => ({ outputs: [0] }) } },
    lookups: {
      ls_first: {
        ...about,
        admissionMode: 'locking-script' as const,
        spendNotificationMode: 'none' as const,
        outputAdmittedByTopic: async () => {
          throw new Error('later')
        },
        outputEvicted: async () => undefined,
        lookup: async () => []
      }
    }
  })
}

const logged: { level: string; event: string; code: unknown }[] = []
const log = (level: string) => (event: string, fields?: Readonly<Record<string, unknown>>) =>
  void logged.push({ level, event, code: fields?.['code'] })
const logger = { info: log('info'), warn: log('warn'), error: log('error') }

const store = `lmdb:${path}`
const { config } = loadConfig({ options: { store, port: '0', chain: 'scripts-only' } })
const node = await startNode(config, { plugins: [plugin], logger })

// biome-ignore lint/suspicious/noExplicitAny: the test looks at each answer.
const ask = async (route: string): Promise<{ status: number; body: any }> => {
  const response = await fetch(node.url + route)
  return { status: response.status, body: await response.json() }
}
const ready = async () => {
  const { status, body } = await ask('/health/ready')
  return { status, store: body.checks.find(({ name }: { name: string }) => name === 'store').message }
}
const submit = async (): Promise<{ status: number; code: unknown }> => {
  const from = chain.fund(payTo(key), 1000)
  chain.mine()
  const transaction = spend({
    inputs: [{ from, vout: 0, unlock: withKeyHash(key) }],
    outputs: [{ satoshis: 900, script: payTo(key) }]
  })
  await chain.submit(transaction)
  const response = await fetch(`${node.url}/submit`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream', 'x-topics': '["tm_first"]' },
    body: Buffer.from(chain.beef(transaction.txid))
  })
  return { status: response.status, code: ((await response.json()) as { code?: unknown }).code }
}

const first = { ready: await ready(), submitted: await submit() }

if (how === 'read-only') makeReadOnly(path)
if (how === 'deleted') rmSync(path, { recursive: true })
// Of all threads, the one that the store has made comes first.
if (how === 'thread') await made[0]!.terminate()
if (how === 'full') {
  for (const size of [100_000, 4000, 500]) {
    for (let isFull = false, n = 0; !isFull; n++) {
      const taken = node.store.set(Buffer.from(`${size}-${n}`), new Uint8Array(size))
      isFull = await taken.then(
        () => false,
        ({ code }) => code === 'ERR_STORE_FULL'
      )
    }
  }
}
const failed = {
  ready: await ready(),
  submitted: await submit(),
  again: await submit(),
  later: await ready()
}
// Several rounds of everything that runs each second.
await new Promise(resolve => setTimeout(resolve, 3000))
const reads = [
  (await ask('/status')).status,
  (await ask('/txo/balance?events=own:1HdvFwjcMgRdB8Cwgzcaady1GYd7a9Ffyc')).status
]
const metrics = await (await fetch(`${node.url}/metrics`)).text()
const up = /quoin_part_up\{part="store"\} (\d)/.exec(metrics)?.[1]
const expected = new Set(['request refused', 'a lookup service failed'])
const lines = logged.filter(({ event, level }) => level !== 'info' && !expected.has(event))

let mended: unknown
if (how === 'full') {
  if (volume === undefined) execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=unlimited'])
  else execFileSync('mount', ['-o', 'remount,size=64m', volume])
  mended = { submitted: await submit(), ready: await ready() }
}
await node.close()
process.stdout.write(`${JSON.stringify({ first, failed, reads, up, lines, mended })}\n`)
