/** What has to hold for an index at rest: it is what would have come of the chain alone, however it came about. */
import { Beef, type Transaction, verifyBeef } from '@quoin/chain'
import {
  formatOutpoint,
  formatTxid,
  makeOutpoint,
  type Outpoint,
  parseOutpoint,
  parseTxid
} from '@quoin/primitives'
import { openStore, type TypedRow } from '@quoin/store'
import { Indexer } from '../indexer.ts'
import { outputs as outputKeys } from '../keys.ts'
import { membershipDifference } from '../membership.testing.ts'
import { OutputStore } from '../output-store.ts'
import { TxUpdate } from '../tx-update.ts'
import { verifyIndex } from '../verify.ts'
import { firstDifference, showDifference } from './differences.testing.ts'
import { viewOf } from './follower.testing.ts'
import { EVENTS, NOTE, TOPICS } from './marks.testing.ts'
import { difference, expected, observe } from './observe.testing.ts'
import type { Player } from './player.testing.ts'
import { addressOf, idOf } from './wallet.testing.ts'

export const checkRest = async (player: Player): Promise<void> => {
  const { store } = player.target.outputs
  fail('the model', difference(await observe(store), expected(player.model)))
  const fresh = await freshIndex(player)
  fail('an index built from the chain', await firstDifference(store, fresh.store))
  await fresh.store.close()
  const verdict = await verifyIndex(store, { events: EVENTS })
  fail('verifyIndex', verdict.differences.map(showDifference)[0])
  await checkOwners(player)
  await checkTopics(player)
  await checkConflicts(player)
  await checkProvable(player)
  await checkFollowers(player)
  for (const topic of TOPICS) {
    fail('the membership log', await membershipDifference(player.target.outputs, topic))
  }
}

/** What has to hold at any time. */
export const checkMeanwhile = async (player: Player): Promise<void> => {
  await checkTopics(player)
  await checkFollowers(player)
}

const fail = (what: string, reason: string | undefined): void => {
  if (reason !== undefined) throw new Error(`${what} does not agree: ${reason}`)
}

/** Everything that the chain has, in its order, each first seen when the index has seen it, with what was said of it. */
const freshIndex = async ({ world, model }: Player): Promise<OutputStore> => {
  const outputs = new OutputStore(await openStore('memory:'), { events: EVENTS, now: () => world.now })
  const indexer = new Indexer(outputs, world.chain)
  for (const transaction of [...world.mined, ...world.chain.mempool]) {
    const record = model.stored.get(idOf(transaction))?.record
    if (!record) throw new Error(`${idOf(transaction)} never arrived`)
    await indexer.index(world.chain.beef(transaction.txid), record.seen)
    const change = new TxUpdate(transaction.txid)
    for (const topic of record.topics) change.markApplied(topic)
    for (const [vout, { topics, events, note }] of record.outputs) {
      change.output(vout, { events, ...(note !== undefined && { data: { [NOTE]: note } }) })
      for (const [topic, { inputs, dependencies, isSpent }] of topics) {
        change.admit(topic, vout, {
          inputs: inputs.map(parseOutpoint),
          dependencies: dependencies.map(parseTxid)
        })
        if (isSpent) change.markSpent(topic, vout)
      }
    }
    await outputs.commit(change)
  }
  return outputs
}

/** Outputs by owner, spent or not, and what they come to, added up from the chain. */
const checkOwners = async ({ world, model, target }: Player): Promise<void> => {
  const scores = new Map<string, number>()
  const survivors: Transaction[] = []
  for (let height = 1; height <= world.chain.height; height++) {
    for (const [index, transaction] of world.chain.block(height)!.entries()) {
      survivors.push(transaction)
      scores.set(idOf(transaction), height + index / 1e9)
    }
  }
  for (const transaction of world.chain.mempool) {
    survivors.push(transaction)
    scores.set(idOf(transaction), model.stored.get(idOf(transaction))!.record.seen)
  }
  for (const key of world.wallet.keys) {
    const own = `own:${addressOf(key)}`
    const rows: string[] = []
    const spent: string[] = []
    const balance = { satoshis: 0n, outputs: 0 }
    for (const transaction of survivors) {
      for (const [vout, { satoshis }] of transaction.outputs.entries()) {
        const outpoint = makeOutpoint(transaction.txid, vout)
        const coin = world.wallet.coinAt(outpoint)
        if (coin?.lock !== 'hash' || coin.key !== key) continue
        const name = formatOutpoint(outpoint)
        rows.push(`${name} ${scores.get(idOf(transaction))}`)
        const spender = world.chain.spenderOf(outpoint)
        if (spender) {
          spent.push(`${name} ${scores.get(formatTxid(spender))}`)
        } else {
          balance.satoshis += BigInt(satoshis)
          balance.outputs++
        }
      }
    }
    fail(own, sameRows(await allRows(target.outputs, own), rows))
    fail(`${own}:spnd`, sameRows(await allRows(target.outputs, `${own}:spnd`), spent))
    const kept = await target.outputs.searchBalance({ keys: [own] })
    const isSame = kept.satoshis === balance.satoshis && kept.outputs === balance.outputs
    fail(
      `the balance of ${own}`,
      isSame
        ? undefined
        : `${kept.satoshis}, ${kept.outputs} outputs; expected: ${balance.satoshis}, ${balance.outputs}`
    )
  }
}

const allRows = async (outputs: OutputStore, key: string): Promise<string[]> => {
  const rows: string[] = []
  let cursor: string | undefined
  do {
    const page = await outputs.search({ keys: [key], limit: 20, ...(cursor !== undefined && { cursor }) })
    rows.push(...page.rows.map(({ outpoint, score }) => `${formatOutpoint(outpoint)} ${score}`))
    cursor = page.cursor
  } while (cursor !== undefined)
  return rows
}

const sameRows = (found: readonly string[], wanted: readonly string[]): string | undefined =>
  [...found].sort().join('\n') === [...wanted].sort().join('\n')
    ? undefined
    : `[${[...found].sort()}]; expected: [${[...wanted].sort()}]`

/** Every refusal is on record, and nothing else, unless a crash came between a record and the answer. */
const checkConflicts = async ({ model, target, tally }: Player): Promise<void> => {
  const { conflicts } = outputKeys.collections
  const recorded = new Set<string>()
  const prefix = conflicts.encode(parseTxid('0'.repeat(64)), 0).subarray(0, -36)
  for (const key of await target.outputs.store.zkeys(prefix)) {
    const outpoint = makeOutpoint(...conflicts.decode(key))
    for (const txid of await target.outputs.conflicts(outpoint)) {
      recorded.add(`${formatOutpoint(outpoint)} ${formatTxid(txid)}`)
    }
  }
  fail(
    'what conflicts are recorded',
    [...model.conflicts].find(each => !recorded.has(each))
  )
  if (tally.has('crash')) return
  fail(
    'which conflicts are recorded',
    [...recorded].find(each => !model.conflicts.has(each))
  )
}

/** What waits can be proved to anybody from what is stored. */
const checkProvable = async ({ world, target }: Player): Promise<void> => {
  for (const { txid } of world.chain.mempool) {
    await verifyBeef(Beef.parse(await target.outputs.transactions.beef(txid)), { tracker: world.chain })
  }
}

/** The outputs of topics, mined ones by their heights, and the transactions that were applied to them. */
const checkTopics = async ({ model, target }: Player): Promise<void> => {
  const { topicOutputs, topicTransactions } = outputKeys.collections
  for (const topic of TOPICS) {
    const [outputs, applied]: string[][] = [[], []]
    for (const [id, { place, record }] of model.stored) {
      const score = place ? place.height + place.index / 1e9 : record.seen
      if (record.topics.has(topic)) applied!.push(`${id} ${score}`)
      for (const [vout, { topics }] of record.outputs) {
        if (topics.has(topic)) outputs!.push(`${id}.${vout} ${score}`)
      }
    }
    const { store } = target.outputs
    const outpoints = async (rows: Promise<TypedRow<Outpoint>[]>): Promise<string[]> =>
      (await rows).map(({ member, score }) => `${formatOutpoint(member)} ${score}`)
    fail(topic, sameRows(await outpoints(store.use(topicOutputs).at(topic).range()), outputs!))
    const rows = await store.use(topicTransactions).at(topic).range()
    const found = rows.map(({ member, score }) => `${formatTxid(member)} ${score}`)
    fail(`what was applied to ${topic}`, sameRows(found, applied!))
  }
}

/** They were told everything once, in order, and know from that what there is. */
const checkFollowers = async ({ follower, listener, target }: Player): Promise<void> => {
  const last = await target.outputs.journal.last()
  await follower.catchUp(target.outputs, last)
  await listener.catchUp(target.outputs, follower.touching(listener).at(-1)?.position ?? 0)
  const positions = follower.changes.map(({ position }) => position)
  const isWhole = positions.length === last && positions.every((position, i) => position === i + 1)
  fail('what a follower heard', isWhole ? undefined : `${last} changes: ${positions}`)
  fail('what a follower knows', difference(follower.view(), await viewOf(target.outputs.store)))
  const heard = new Set(listener.changes.map(({ position }) => position))
  const unheard = follower.touching(listener).filter(({ position }) => !heard.has(position))
  fail(
    'what a listener heard',
    unheard.length === 0 ? undefined : `not ${unheard.map(each => each.position)}`
  )
}
