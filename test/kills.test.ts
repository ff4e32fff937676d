/**
 * Processes of a node on one PostgreSQL, killed at random under load, as is the server: nothing acknowledged is lost,
 * nothing is there twice, and the processes that remain do all the work. QUOIN_KILLS and QUOIN_PAIRS say how often;
 * `npm run test:kills` kills 20 times and submits 400 pairs of conflicting spends, to PostgreSQL and to Redis.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  formatOutpoint,
  formatTxid,
  makeOutpoint,
  type Outpoint,
  type Topic,
  type Txid
} from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import { OutputStore } from '@quoin/txo'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { oneSat, serve, type TestService } from '../packages/chain/src/headers/services.testing.ts'
import { type PostgresServer, startPostgres } from '../packages/store/src/postgres/server.testing.ts'
import { newRandom } from './faults/random.ts'
import { Commands, type RunningNode } from './node.testing.ts'
import { type ChainedSubmission, SpendingChain } from './spending-chain.testing.ts'

const KILLS = Number(process.env['QUOIN_KILLS'] ?? 1)
const PAIRS = Number(process.env['QUOIN_PAIRS'] ?? 20)
const SEED = Number(process.env['QUOIN_SEED'])
const TOPIC = 'tm_chains' as Topic
const ROLES = ['api', 'api,worker,sources', 'worker,sources'] as const
const CLIENTS = 4
/** Milliseconds between the submissions of a client. */
const PAUSE_MS = 20
/** The blocks of a reorg, in one kill of five. */
const REORG = 2
/** Of leases, and of items that the killed process worked on. */
const TAKEOVER_MS = 40_000
const SUBMISSION_MS = 60_000

const folder = mkdtempSync(join(tmpdir(), 'quoin-kills-'))
const commands = new Commands(folder)
const random = newRandom(SEED)
const chain = new SpendingChain('kills', PAIRS + 150 * (KILLS + 1))
const PLUGIN = join(folder, 'plugin.mjs')
const DELIVERED = join(folder, 'delivered')
writeFileSync(DELIVERED, '')
// A topic that depends on the order of evaluations, unless they are repeated.
writeFileSync(
  PLUGIN,
  `import { appendFileSync } from 'node:fs'
const about = { getDocumentation: async () => '', getMetaData: async () => ({ name: 'x', shortDescription: 'x' }) }
export const topics = { ${TOPIC}: { ...about, admit: ({ transaction, previousCoins }) => ({
  outputs: previousCoins.length > 0 || Number(transaction.outputs[0].satoshis) === ${chain.first} ? [0] : [],
  retain: previousCoins.map(({ input }) => input)
}) } }
export const lookups = { ls_chains: {
  ...about, admissionMode: 'locking-script', spendNotificationMode: 'none',
  outputAdmittedByTopic: async ({ txid, outputIndex }) => appendFileSync(${JSON.stringify(DELIVERED)}, txid + '.' + outputIndex + '\\n'),
  outputEvicted: async () => {}, lookup: async () => []
} }`
)

let postgres: PostgresServer
let source: TestService
let nodes: RunningNode[]
const start = (roles: string): Promise<RunningNode> =>
  commands.serve([
    ...['serve', '--store', postgres.url, '--roles', roles, '--port', '0', '--plugins', PLUGIN],
    ...['--chain', `headers:${source.url}`, '--proofs', source.url, '--network', 'regtest'],
    ...['--limits-rate', '0', '--log-level', 'warn']
  ])
beforeAll(async () => {
  postgres = await startPostgres()
  source = await serve(oneSat(chain.chain))
  const [first, ...others] = ROLES
  nodes = [await start(first), ...(await Promise.all(others.map(start)))]
})
afterAll(async () => {
  await commands.close()
  await source?.close()
  await postgres?.stop()
  rmSync(folder, { recursive: true })
})

/** The status of the answer, and whether the topic admitted the output; no status without an answer. */
const submit = async (index: number, beef: Uint8Array) => {
  try {
    const response = await fetch(`${nodes[index]!.url}/submit`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream', 'x-topics': JSON.stringify([TOPIC]) },
      body: Buffer.from(beef)
    })
    const answer = (await response.json()) as Record<string, { outputsToAdmit?: number[] }>
    return { status: response.status, isAdmitted: answer[TOPIC]?.outputsToAdmit?.length === 1, answer }
  } catch (error) {
    // fetch and the body of an answer end so when the process is gone.
    if (error instanceof TypeError) return { status: undefined, isAdmitted: false, answer: error.message }
    throw error
  }
}

const leasesOf = async ({ url }: RunningNode): Promise<Readonly<Record<string, boolean>>> =>
  ((await (await fetch(`${url}/status`)).json()) as { leases: Record<string, boolean> }).leases

const opened = async <T>(read: (outputs: OutputStore, store: Store) => Promise<T>): Promise<T> => {
  const store = await openStore(postgres.url)
  try {
    return await read(new OutputStore(store), store)
  } finally {
    await store.close()
  }
}

/** How often each output became a member of the topic, without the times that it ceased to be one. */
const admissionCounts = (outputs: OutputStore): Promise<Map<string, number>> => {
  const counts = new Map<string, number>()
  const count = (outpoint: Outpoint, by: number): void => {
    const name = formatOutpoint(outpoint)
    counts.set(name, (counts.get(name) ?? 0) + by)
  }
  const read = async (): Promise<Map<string, number>> => {
    for (let after = 0; ; ) {
      const { entries } = await outputs.membership(TOPIC).read({ after, limit: 1000 })
      if (entries.length === 0) return counts
      for (const { position, changes } of entries) {
        expect(position).toBe(after + 1)
        after = position
        for (const change of changes) {
          if (change.kind === 'admitted') count(change.outpoint, 1)
          else if (change.kind === 'retracted' || change.kind === 'removed' || change.kind === 'refused')
            count(change.outpoint, -1)
        }
      }
    }
  }
  return read()
}

const outputOf = (txid: Txid): string => formatOutpoint(makeOutpoint(txid, 0))

it(
  `has exactly one live of each of ${PAIRS} pairs of spends of a coin, submitted to two processes at once`,
  async () => {
    const submitted: { txid: Txid; status: number | undefined; isAdmitted: boolean }[][] = []
    for (let i = 0; i < PAIRS; i++) {
      const pair = await chain.rivals()
      const answers = await Promise.all(pair.map(({ beef }, index) => submit(index, beef)))
      submitted.push(pair.map(({ txid }, index) => ({ txid, ...answers[index]! })))
    }
    const statuses = submitted.map(pair => pair.map(({ status }) => status).toSorted())
    expect(statuses).toEqual(submitted.map(() => [200, 409]))
    await opened(async outputs => {
      for (const { txid, isAdmitted } of submitted.flat())
        expect(await outputs.isInTopic(TOPIC, makeOutpoint(txid, 0))).toBe(isAdmitted)
      const counts = await admissionCounts(outputs)
      for (const pair of submitted)
        expect(pair.map(({ txid }) => counts.get(outputOf(txid)) ?? 0).toSorted()).toEqual([0, 1])
    })
  },
  60_000 + PAIRS * 1000
)

/** Submits chains of three transactions in any order, each until it is acknowledged. */
class Load {
  readonly acknowledged: ChainedSubmission[] = []
  /** Submissions that were not acknowledged at first, by the status of their answers. */
  readonly failures = new Map<number | undefined, number>()
  #isOver = false
  readonly #clients: Promise<void>[]

  constructor() {
    this.#clients = Array.from({ length: CLIENTS }, () => this.#submitChains())
    // `end` rejects with the failure of a client.
    for (const client of this.#clients) client.catch(() => {})
  }

  async end(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#clients)
  }

  async #submitChains(): Promise<void> {
    while (!this.#isOver && chain.isRich) {
      const submissions = await chain.descendants(3)
      for (const submission of random.real() < 0.5 ? submissions : submissions.toReversed()) {
        await this.#submit(submission)
        this.acknowledged.push(submission)
        await sleep(PAUSE_MS)
      }
    }
  }

  async #submit(submission: ChainedSubmission): Promise<void> {
    for (const deadline = Date.now() + SUBMISSION_MS; ; ) {
      const { status, answer } = await submit(random.below(2), submission.beef)
      if (status === 200) return
      this.failures.set(status, (this.failures.get(status) ?? 0) + 1)
      if (status !== undefined && status !== 503) throw new Error(`${status} ${JSON.stringify(answer)}`)
      if (Date.now() > deadline) throw new Error(`no acknowledgement: ${status} ${JSON.stringify(answer)}`)
      await sleep(50)
    }
  }
}

const restart = async (index: number): Promise<void> => {
  nodes[index]!.child.kill('SIGKILL')
  await nodes[index]!.ended
  nodes[index] = await start(ROLES[index]!)
}

/** The process that follows the chain; undefined while none does. */
const holder = async (): Promise<number | undefined> => {
  const leases = await Promise.all(nodes.map(leasesOf))
  const index = leases.findIndex(({ chain: isHeld }) => isHeld)
  return index < 0 ? undefined : index
}

it(
  `loses nothing and repeats nothing in ${KILLS} kills under load, and when the process dies that follows the chain`,
  async () => {
    const load = new Load()
    const killed: string[] = []
    for (let kill = 0; kill < KILLS; kill++) {
      await sleep(300 + random.below(700))
      if (kill % 2 === 0) {
        killed.push('postgres')
        await postgres.restart()
      } else {
        const index =
          (await holder()) !== undefined && random.real() < 0.4 ? (await holder())! : random.below(3)
        killed.push(ROLES[index]!)
        await restart(index)
      }
      await chain.mine()
      if (kill % 5 === 4) await chain.reorg(REORG)
    }
    await load.end()
    await chain.mine()
    await expect.poll(holder, { timeout: TAKEOVER_MS }).toBeDefined()
    const doomed = (await holder())!
    nodes[doomed]!.child.kill('SIGKILL')
    await nodes[doomed]!.ended

    const expected = load.acknowledged.map(({ txid }) => outputOf(txid))
    expect(expected.length).toBeGreaterThan(KILLS * 10)
    const missing = () =>
      opened(async outputs => {
        const found = await Promise.all(
          load.acknowledged.map(async ({ txid }) => ({
            name: outputOf(txid),
            isMember: await outputs.isInTopic(TOPIC, makeOutpoint(txid, 0)),
            position: (await outputs.record(txid))?.position,
            expected: await chain.position(txid)
          }))
        )
        return found.filter(
          ({ isMember, position, expected }) =>
            !isMember || position?.height !== expected.height || position.index !== expected.index
        )
      })
    // The process that remains evaluates what arrived before its parents, and asks for headers and proofs.
    await expect.poll(missing, { timeout: TAKEOVER_MS, interval: 500 }).toEqual([])
    const counts = await opened(admissionCounts)
    expect(expected.filter(name => counts.get(name) !== 1)).toEqual([])
    const delivered = (): Set<string> => new Set(readFileSync(DELIVERED, 'utf8').trim().split('\n'))
    await expect
      .poll(() => expected.filter(name => !delivered().has(name)), { timeout: TAKEOVER_MS })
      .toEqual([])
    const beefs = await Promise.all(
      load.acknowledged.map(({ txid }) =>
        fetch(`${nodes[doomed === 1 ? 0 : 1]!.url}/beef/${formatTxid(txid)}`).then(({ status }) => status)
      )
    )
    expect(new Set(beefs)).toEqual(new Set([200]))
    const { status, stdout, stderr } = await commands.run(['verify', postgres.url])
    expect(status, stdout + stderr).toBe(0)
    expect(killed).toHaveLength(KILLS)
  },
  120_000 + KILLS * 60_000
)
