/**
 * Tokens: how fast a backfill goes through the whole pipeline, and how long it takes to ask about a large token.
 *
 * The backfill is transfers of one token between many holders, on durable LMDB: a source has them, and the pipeline runs
 * as it does in a node. None of them is mined, so that both signatures of each are verified, and each spends what the
 * round before has made. They are made beforehand, a stretch at a time, which is not counted.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatAddress, sha256 } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import {
  formatOutpoint,
  makeOutpoint,
  type Outpoint,
  parseOutpoint,
  type TokenId,
  type Txid,
  txidOf
} from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { type OutputSearch, outputs, TxUpdate } from '@quoin/txo'
import { suite } from '../../../bench/harness.ts'
import { measureLatency } from '../../../bench/latency.ts'
import { memory } from '../../../bench/memory.ts'
import { type Account, EACH, round, Stock, spread, toSourceTransaction } from './backfill.testing.ts'
import { bsv21, bsv21Events } from './keys.ts'
import { TokenNode, type TokenNodeOptions } from './node.testing.ts'
import { queueOfToken } from './pipeline/queues.ts'
import type { SourceTransaction } from './source/source.ts'
import { DISCOVERY, topicOf } from './topic-names.ts'

/** Parts of a backfill that are timed by themselves. */
const STRETCHES = 10
export default suite(({ sheet, after, progress, scale, note }) => {
  const open = async (chain: DevChain, options: Partial<TokenNodeOptions> = {}): Promise<TokenNode> => {
    const path = await mkdtemp(join(tmpdir(), 'quoin-bench-'))
    const store = await openStore(`lmdb:${path}`)
    const node = new TokenNode(store, { chain, activation: 'all', ...options })
    after(async () => {
      await node.close()
      await store.close()
      await rm(path, { recursive: true, force: true })
    })
    return node
  }

  note('a backfill verifies two signatures of each transaction; processor time is that of all threads')
  note(
    'heap is what is referred to; resident is all memory but for the file that LMDB maps, which is the cache'
  )

  sheet('backfill', async () => {
    const [holders, rounds] = { quick: [200, 10], normal: [1000, 100], full: [1000, 1000] }[scale] as [
      number,
      number
    ]
    const chain = new DevChain()
    const stock = new Stock()
    const node = await open(chain, { sources: [stock] })
    const { id, beefs, accounts: first } = await spread(chain, holders)
    for (const beef of beefs) await node.pipeline.ingest.ingestBeef(beef)
    await node.pipeline.settle()
    const applied = outputs.collections.topicTransactions.encode(topicOf(id))
    const before = await node.outputs.store.zcard(applied)
    node.pipeline.start()
    const rows: (number | null)[][] = []
    let accounts: readonly Account[] = first
    let done = 0
    for (let stretch = 0; stretch < STRETCHES; stretch++) {
      const staged: SourceTransaction[] = []
      for (let number = 0; number < rounds / STRETCHES; number++) {
        const [made, next] = round(id, accounts, stretch * rounds + number)
        for (const transaction of made) staged.push(toSourceTransaction(transaction))
        accounts = next
      }
      progress(`${done.toLocaleString('en-US')} transactions`)
      done += staged.length
      const cpu = process.cpuUsage()
      const start = performance.now()
      stock.give(staged)
      while ((await node.outputs.store.zcard(applied)) < before + done) await sleep(5)
      const seconds = (performance.now() - start) / 1000
      const { user, system } = process.cpuUsage(cpu)
      const { heap, resident, mapped } = memory()
      const count = staged.length
      rows.push([
        done,
        Math.round(count / seconds),
        Math.round((user + system) / count),
        heap,
        resident,
        mapped
      ])
    }
    const totals = await node.tokens.totals(id)
    if (totals.supply !== EACH * BigInt(holders + 1) || totals.holders !== holders)
      throw new Error('the sums are wrong')
    return {
      columns: ['transactions', 'tx/s', 'processor us/tx', 'heap MB', 'resident MB', 'mapped MB'],
      rows
    }
  })

  sheet('asking about a token', async () => {
    const [outputs, holders] = { quick: [1e4, 1e3], normal: [1e6, 1e5], full: [1e6, 1e5] }[scale] as [
      number,
      number
    ]
    const node = await open(new DevChain())
    const id = `${'ab'.repeat(32)}_0` as TokenId
    await fill(node, id, outputs, holders, progress)
    const someone = (i: number): string => addressOf(Math.floor((i * 7919) % holders))
    const starts = await pageStarts(node, id)
    const ofToken = bsv21Events.types.id.text(id)
    const history = (search: Partial<OutputSearch>): Promise<unknown> =>
      node.outputs.searchOutputs({
        keys: [ofToken],
        reverse: true,
        limit: 100,
        includeSpend: true,
        includeTags: ['bsv21'],
        ...search
      })
    const asks: Record<string, (i: number) => Promise<unknown>> = {
      balance: i => node.tokens.balance(id, 'p2pkh', [someone(i)]),
      supply: () => node.tokens.totals(id),
      'first 100 holders': () => node.tokens.holders(id, { limit: 100 }),
      '100 holders anywhere': i =>
        node.tokens.holders(id, { limit: 100, cursor: starts[(i * 7919) % starts.length] }),
      'history, last 100': () => history({}),
      'history, 100 anywhere': i => history({ to: 1 + ((i * 7919) % (outputs / 1e4)) }),
      'history of a holder': i => history({ keys: [bsv21Events.types.p2pkh.text(someone(i), id)] })
    }
    // What filling it has left behind is not what is measured.
    memory()
    const rows: (string | number)[][] = []
    for (const [name, ask] of Object.entries(asks)) {
      const { p50, p99, processorUs } = await measureLatency(ask)
      rows.push([name, outputs, holders, p50, p99, processorUs])
    }
    return { columns: ['question', 'outputs', 'holders', 'p50 ms', 'p99 ms', 'processor us'], rows }
  })

  sheet('idle tokens', async () => {
    const counts = scale === 'quick' ? [0, 10_000] : [0, 10_000, 100_000]
    const rows: (string | number)[][] = []
    for (const kind of ['active', 'unpaid, with queue items'] as const) {
      for (const count of counts) {
        const node = await open(new DevChain(), { activation: 'listed', feeXpub: XPUB })
        await fillTokens(node, count, progress)
        await (kind === 'active' ? whitelistAll(node, count) : enqueueAll(node, count))
        const before = memory()
        node.pipeline.start()
        // What starting takes is not what is measured.
        await sleep(2000)
        const cpu = process.cpuUsage()
        await sleep(IDLE_SECONDS[scale] * 1000)
        const idle = process.cpuUsage(cpu)
        const { heap, resident } = memory()
        await node.pipeline.settle()
        const check = process.cpuUsage()
        await node.pipeline.settle()
        const checked = process.cpuUsage(check)
        await node.close()
        rows.push([
          kind,
          count,
          rounded((idle.user + idle.system) / 1000 / IDLE_SECONDS[scale]),
          heap - before.heap,
          resident - before.resident,
          Math.round((checked.user + checked.system) / 1000)
        ])
      }
    }
    return {
      columns: [
        'tokens are',
        'tokens',
        'processor ms/s',
        'heap MB more',
        'resident MB more',
        'activation check ms'
      ],
      rows
    }
  })
})

const XPUB =
  'xpub661MyMwAqRbcF221R74MPqdipLsgUevAAX4hZP2rywyEeShpbe3v2r9ciAvSGT6FB22TEmFLdUyeEDJL4ekG8s9H5WXbzDQPr6eW1zEYYy9'

const IDLE_SECONDS = { quick: 5, normal: 20, full: 20 }

/** Tokens of a transaction of `fillTokens`. */
const PER_TRANSACTION = 100

const tokenNumber = (number: number): Outpoint => {
  const name = new TextEncoder().encode(`tokens ${Math.floor(number / PER_TRANSACTION)}`)
  return makeOutpoint(sha256(name) as Txid, number % PER_TRANSACTION)
}

/** Tokens that are deployed and held, as their topics admitted them; nothing of them is verified. */
const fillTokens = async (
  { outputs }: TokenNode,
  count: number,
  progress: (text: string) => void
): Promise<void> => {
  const { id: ofToken, p2pkh } = bsv21Events.types
  for (let made = 0; made < count; ) {
    const changes = Array.from({ length: 10 }, () => {
      const change = new TxUpdate(txidOf(tokenNumber(made)), { vouts: PER_TRANSACTION })
      for (let vout = 0; vout < PER_TRANSACTION; vout++, made++) {
        const id = formatOutpoint(tokenNumber(made), '_') as TokenId
        change
          .output(vout, {
            satoshis: 1,
            events: [ofToken.text(id), p2pkh.text(addressOf(made), id)],
            data: { bsv21: { id, op: 'deploy+mint', amt: '1000' } }
          })
          .admit(DISCOVERY, vout)
          .admit(topicOf(id), vout)
      }
      return change
    })
    await outputs.commit(...changes)
    progress(`${made.toLocaleString('en-US')} tokens`)
  }
}

const tokenIds = (count: number): TokenId[] =>
  Array.from({ length: count }, (_, i) => formatOutpoint(tokenNumber(i), '_') as TokenId)

const whitelistAll = async ({ outputs: { store } }: TokenNode, count: number): Promise<void> => {
  const batch = store.batch()
  for (const id of tokenIds(count)) batch.use(bsv21.collections.lists).at('whitelist').add(id)
  await batch.commit()
}

/** An output of each token waits for its activation. */
const enqueueAll = async ({ outputs: { store } }: TokenNode, count: number): Promise<void> => {
  const batch = store.batch()
  for (const id of tokenIds(count)) {
    queueOfToken(store, id).enqueueIn(batch, parseOutpoint(id), 0)
    batch.use(bsv21.collections.idle).at().add(id, 1)
  }
  await batch.commit()
}

/** Where the pages of the holders begin. */
const pageStarts = async ({ tokens }: TokenNode, id: TokenId): Promise<string[]> => {
  const starts: string[] = []
  let { cursor } = await tokens.holders(id, { limit: 100 })
  for (; cursor !== undefined; { cursor } = await tokens.holders(id, { limit: 100, cursor }))
    starts.push(cursor)
  return starts
}

const rounded = (milliseconds: number): number => Math.round(milliseconds * 1000) / 1000

const addressOf = (number: number): string =>
  formatAddress(sha256(new TextEncoder().encode(`holder ${number}`)).subarray(0, 20))

/** So many outputs of a token, as its topic admitted them; nothing of it is verified, which is not what is measured. */
const fill = async (
  { outputs }: TokenNode,
  id: TokenId,
  count: number,
  holders: number,
  progress: (text: string) => void
): Promise<void> => {
  const { id: ofToken, p2pkh } = bsv21Events.types
  const size = 100
  for (let made = 0; made < count; ) {
    const changes = Array.from({ length: 10 }, () => {
      const txid = sha256(new TextEncoder().encode(`transaction ${made}`)) as Txid
      const change = new TxUpdate(txid, {
        vouts: size,
        position: { height: 1 + Math.floor(made / 1e4), index: BigInt(made % 1e4) }
      })
      for (let vout = 0; vout < size; vout++, made++) {
        const amt = `${1 + ((made * 31) % 1_000_000)}`
        change
          .output(vout, {
            satoshis: 1,
            events: [ofToken.text(id), p2pkh.text(addressOf(made % holders), id)],
            data: { bsv21: { id, op: 'transfer', amt } }
          })
          .admit(topicOf(id), vout)
      }
      return change
    })
    await outputs.commit(...changes)
    if (made % 1e5 === 0) progress(`${made.toLocaleString('en-US')} outputs`)
  }
  if (
    !(await outputs.isInTopic(
      topicOf(id),
      makeOutpoint(sha256(new TextEncoder().encode('transaction 0')) as Txid, 0)
    ))
  ) {
    throw new Error('nothing was made')
  }
}
