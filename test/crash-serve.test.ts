/**
 * Kills `quoin serve` under HTTP load and starts it again on the same store: every acknowledged submission is found, as
 * BEEF and by lookup, and no other is there in part. QUOIN_CRASHES says how often; `npm run test:crash` does it 50 times.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DevChain } from '@quoin/dev-chain'
import { buildScript, formatTxid, OP } from '@quoin/primitives'
import { afterAll, describe, expect, it } from 'vitest'
import { makeKey, payTo, spend, withKeyHash } from '../packages/chain/src/verify/test-chain.testing.ts'
import { newRandom } from './faults/random.ts'

/** In all. */
const KILLS = Math.ceil(Number(process.env['QUOIN_CRASHES'] ?? 8) / 4)
const SEED = Number(process.env['QUOIN_SEED'])
const BIN = fileURLToPath(new URL('../packages/node/bin/quoin.js', import.meta.url))
const PLUGIN = fileURLToPath(new URL('../examples/hello-overlay/hello.ts', import.meta.url))
/** Submissions of a round, of which the kill cuts off some. */
const ROUND = 100
const CLIENTS = 16

const folder = mkdtempSync(join(tmpdir(), 'quoin-crash-serve-'))
let running: ChildProcess | undefined
afterAll(async () => {
  if (running && running.exitCode === null && running.signalCode === null) {
    running.kill('SIGKILL')
    await once(running, 'exit')
  }
  rmSync(folder, { recursive: true })
})

/** What tests are run with is not for the node. */
const ENVIRONMENT = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('QUOIN_'))
)

const serve = async (store: string): Promise<{ readonly url: string; readonly child: ChildProcess }> => {
  const options = ['--chain', 'scripts-only', '--limits-rate', '0', '--log-level', 'warn']
  const child = spawn(
    process.execPath,
    [BIN, 'serve', '--port', '0', '--store', store, '--plugins', PLUGIN, ...options],
    { env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe'] }
  )
  running = child
  let [output, errors] = ['', '']
  child.stderr.on('data', data => {
    errors += data
  })
  return new Promise((resolve, reject) => {
    child.once('exit', (code, signal) =>
      reject(new Error(`quoin serve ended with ${signal ?? code}: ${errors}`))
    )
    child.stdout.on('data', data => {
      output += data
      const [, url] = /listening on (http:\S+)/.exec(output) ?? []
      if (url) resolve({ url, child })
    })
  })
}

interface Submission {
  readonly txid: string
  readonly beef: Uint8Array
  readonly message: string
}

const key = makeKey('crash')
const greetingScript = (text: string): Uint8Array => buildScript([OP.FALSE, OP.RETURN, Buffer.from(text)])

const mint = async (chain: DevChain, round: number): Promise<Submission[]> => {
  const paid = Array.from({ length: ROUND }, () => chain.fund(payTo(key), 1000))
  chain.mine()
  const minted: Submission[] = []
  for (const [i, from] of paid.entries()) {
    const message = `message ${round}.${i}`
    const transaction = spend({
      inputs: [{ from, vout: 0, unlock: withKeyHash(key) }],
      outputs: [{ satoshis: 900, script: greetingScript(message) }]
    })
    await chain.submit(transaction)
    minted.push({ txid: formatTxid(transaction.txid), beef: chain.beef(transaction.txid), message })
  }
  return minted
}

/** Whether it was acknowledged. */
const submit = async (url: string, { beef }: Submission): Promise<boolean> => {
  try {
    const response = await fetch(`${url}/submit`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream', 'x-topics': '["tm_greetings"]' },
      body: Buffer.from(beef)
    })
    const steak = await response.json()
    expect(steak).toMatchObject({ tm_greetings: { outputsToAdmit: [0] } })
    return true
  } catch (error) {
    // fetch and the body of an answer end so when the node is gone.
    if (error instanceof TypeError) return false
    throw error
  }
}

/** As many at once as there are clients. */
const inTurns = async <T>(
  all: readonly Submission[],
  work: (each: Submission) => Promise<T>
): Promise<T[]> => {
  const results: T[] = []
  let next = 0
  const client = async (): Promise<void> => {
    for (let i = next++; i < all.length; i = next++) results[i] = await work(all[i]!)
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return results
}

/** Submits everything, and answers what was acknowledged. */
const load = async (url: string, all: readonly Submission[], onFirst?: () => void): Promise<Submission[]> => {
  const acknowledged: Submission[] = []
  await inTurns(all, async each => {
    if (!(await submit(url, each))) return
    acknowledged.push(each)
    if (acknowledged.length === 1) onFirst?.()
  })
  return acknowledged
}

const isFound = async (url: string, { txid, message }: Submission): Promise<boolean[]> => {
  const beef = await fetch(`${url}/beef/${txid}`)
  await beef.arrayBuffer()
  const lookup = await fetch(`${url}/lookup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ service: 'ls_greetings', query: { text: message } })
  })
  const { outputs } = (await lookup.json()) as { outputs: unknown[] }
  return [beef.status === 200, outputs.length === 1]
}

const expectWhole = async (url: string, all: readonly Submission[], acknowledged: readonly Submission[]) => {
  const known = new Set(acknowledged)
  const found = await inTurns(all, each => isFound(url, each))
  for (const [i, each] of all.entries()) {
    const parts = found[i]!
    if (known.has(each)) expect(parts, `${each.message} was acknowledged`).toEqual([true, true])
    else expect(new Set(parts).size, `${each.message} is there in part: ${parts}`).toBe(1)
  }
}

describe.each([
  ['lmdb', Math.ceil(KILLS / 2)],
  ['level', Math.floor(KILLS / 2)]
] as const)('quoin serve on %s', (kind, kills) => {
  it(
    `keeps every acknowledged submission through ${kills} kills under load`,
    async () => {
      const store = `${kind}:${join(folder, kind)}`
      const chain = new DevChain({ seed: kind })
      const random = newRandom(SEED)
      let { url, child } = await serve(store)
      let cut = 0
      for (let kill = 0; kill < kills; kill++) {
        const all = await mint(chain, kill)
        const ended = once(child, 'exit')
        const acknowledged = await load(url, all, () => {
          setTimeout(() => child.kill('SIGKILL'), random.below(150))
        })
        await ended
        if (acknowledged.length < all.length) cut++
        ;({ url, child } = await serve(store))
        await expectWhole(url, all, acknowledged)
        // Whoever was not answered submits again.
        const rest = all.filter(each => !acknowledged.includes(each))
        expect(await load(url, rest)).toHaveLength(rest.length)
        await expectWhole(url, rest, rest)
      }
      expect(cut).toBeGreaterThan(0)
      child.kill('SIGTERM')
      await once(child, 'exit')
      const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, 'verify', store], {
        env: ENVIRONMENT,
        encoding: 'utf8'
      })
      expect({ status, stderr }, stdout).toEqual({ status: 0, stderr: '' })
    },
    60_000 + kills * 20_000
  )
})
