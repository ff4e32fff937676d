/** Reasons why an output is or is not admitted, indexed or spent: codes for programs, sentences for people. */
import { chain } from '@quoin/chain'
import {
  bytesKey,
  formatOutpoint,
  formatTxid,
  type Outpoint,
  type Topic,
  type Txid,
  txidOf,
  voutOf
} from '@quoin/primitives'
import type { LoadedOutput, TransactionRecord } from '@quoin/txo'
import { type BroadcastRecord, broadcasts } from './broadcast/keys.ts'
import type { Engine } from './engine.ts'
import { type Admissions, evictions } from './keys.ts'
import { isQuoinTopic } from './types.ts'

export type WhyCode =
  /** Of the transaction. */
  | 'transaction-unknown'
  | 'rolled-back'
  | 'conflict'
  | 'unmined'
  | 'mined'
  | 'broadcast'
  | 'network-refused'
  /** Of the output. */
  | 'output-unknown'
  | 'unspent'
  | 'spent'
  | 'contested'
  | 'evicted'
  | 'indexed'
  | 'not-indexed'
  /** Of the output in a topic. */
  | 'topic-unknown'
  | 'not-submitted'
  | 'failed'
  | 'refused'
  | 'admitted'
  | 'removed'
  | 'history-removed'
  | 'ambiguous'
  /** Of a lookup service. */
  | 'untold'

export interface Reason {
  readonly code: WhyCode
  /** One sentence. */
  readonly message: string
  readonly topic?: string
  /** The data of the sentence. */
  readonly details?: Readonly<Record<string, unknown>>
}

export interface Why {
  readonly outpoint: string
  /** Reasons of the transaction, then of the output, then of each topic. */
  readonly reasons: readonly Reason[]
}

/**
 * All that is known, of one topic or of every one that the engine has or had.
 *
 * @example
 * import { DevChain } from '@quoin/dev-chain'
 * import { makeOutpoint } from '@quoin/primitives'
 * import { openStore } from '@quoin/store'
 * import { OutputStore } from '@quoin/txo'
 * const chain = new DevChain()
 * const engine = new Engine({ outputs: new OutputStore(await openStore('memory:')), tracker: chain, topics: {} })
 * const { txid } = chain.fund('1HdvFwjcMgRdB8Cwgzcaady1GYd7a9Ffyc', 1000)
 * const { reasons } = await why(engine, makeOutpoint(txid, 0))
 * reasons[0]!.code // 'transaction-unknown'
 * await engine.close()
 */
export const why = async (engine: Engine, outpoint: Outpoint, topic?: string): Promise<Why> => {
  const facts = await factsOf(engine, outpoint)
  const topics =
    topic === undefined ? [...new Set([...engine.topics.keys(), ...Object.keys(facts.admissions)])] : [topic]
  const reasons = [...ofTransaction(facts), ...ofBroadcast(facts), ...ofOutput(facts)]
  for (const each of topics) reasons.push(...(await ofTopic(engine, facts, each)))
  for (const { service, reason } of await engine.undelivered(facts.txid)) {
    const because = reason === undefined ? '' : `: ${reason}`
    reasons.push({
      code: 'untold',
      message: `The delivery to the lookup service ${service} is pending${because}.`,
      details: { service, reason }
    })
  }
  return { outpoint: formatOutpoint(outpoint), reasons }
}

interface Facts {
  readonly txid: Txid
  readonly vout: number
  /** The number of outputs; undefined for an unknown transaction. */
  readonly vouts: number | undefined
  readonly record: TransactionRecord | undefined
  readonly admissions: Admissions
  readonly loaded: LoadedOutput | null
  readonly spender: Txid | null
  /** Refused transactions that spend the output too. */
  readonly rivals: readonly Txid[]
  readonly rolledBack: number | undefined
  readonly evicted: number | undefined
  readonly broadcast: BroadcastRecord | undefined
}

const factsOf = async (engine: Engine, outpoint: Outpoint): Promise<Facts> => {
  const { outputs } = engine
  const { store } = outputs
  const [txid, vout] = [txidOf(outpoint), voutOf(outpoint)]
  const [transaction, record, admissions, loaded, spenders, rivals, rolledBack, evicted, broadcast] =
    await Promise.all([
      outputs.transactions.get(txid),
      outputs.record(txid),
      engine.admissions(txid),
      outputs.loadOutput(outpoint, { includeTopics: true, includeEvents: true, includeTags: 'all' }),
      outputs.spends([outpoint]),
      outputs.conflicts(outpoint),
      store.use(chain.collections.log).at('rollback').score(txid),
      store.use(evictions).get(txid, vout),
      store.use(broadcasts.collections.record).get(txid)
    ])
  return {
    txid,
    vout,
    vouts: transaction?.outputs.length ?? record?.vouts,
    record,
    admissions: admissions ?? {},
    loaded,
    spender: spenders[0]!,
    rivals,
    rolledBack,
    evicted,
    broadcast
  }
}

const ofTransaction = ({ vouts, record, rolledBack }: Facts): Reason[] => {
  if (vouts === undefined) {
    return rolledBack === undefined
      ? [{ code: 'transaction-unknown', message: 'The transaction is not known here.' }]
      : [
          {
            code: 'rolled-back',
            message: `The transaction was rolled back at ${timeOf(rolledBack)}.`,
            details: { at: rolledBack }
          }
        ]
  }
  if (!record) return []
  const { position, seen } = record
  return position
    ? [
        {
          code: 'mined',
          message: `The transaction is mined, at index ${position.index} of block ${position.height}.`,
          details: { height: position.height, index: Number(position.index) }
        }
      ]
    : [
        {
          code: 'unmined',
          message: `The transaction waits for a proof, since ${timeOf(seen)}.`,
          details: { since: seen }
        }
      ]
}

const ofBroadcast = ({ broadcast }: Facts): Reason[] => {
  if (!broadcast || broadcast.status === 'mined') return []
  const { status, txStatus, at, reason, processor, competing } = broadcast
  if (status === 'rejected') {
    return [
      {
        code: 'network-refused',
        message: `It was not kept (${timeOf(at)}): ${reason}.`,
        details: { txStatus, at, reason, ...(competing && { competing }) }
      }
    ]
  }
  const because = reason === undefined ? '' : `: ${reason}`
  const message =
    status === 'queued'
      ? `It waits to be sent to the network, since ${timeOf(at)}${because}.`
      : `The network has it: ${txStatus} by ${processor}, since ${timeOf(at)}${because}.`
  return [{ code: 'broadcast', message, details: { status, txStatus, at, processor, reason } }]
}

const ofOutput = ({ vout, vouts, loaded, spender, rivals, evicted }: Facts): Reason[] => {
  const reasons: Reason[] = []
  if (vouts !== undefined && vout >= vouts) {
    return [
      {
        code: 'output-unknown',
        message: `The transaction has ${vouts} outputs.`,
        details: { outputs: vouts }
      }
    ]
  }
  if (spender) {
    const by = formatTxid(spender)
    reasons.push({ code: 'spent', message: `It is spent by ${by}.`, details: { by } })
  } else if (vouts !== undefined) {
    reasons.push({ code: 'unspent', message: 'Nothing that is known here spends it.' })
  }
  if (rivals.length > 0) {
    const by = rivals.map(formatTxid)
    reasons.push({
      code: 'contested',
      message: `Conflicting spends were refused: ${by.join(', ')}.`,
      details: { by }
    })
  }
  if (evicted !== undefined) {
    reasons.push({
      code: 'evicted',
      message: `The operator evicted it at ${timeOf(evicted)}.`,
      details: { at: evicted }
    })
  }
  if (vouts === undefined) return reasons
  const found = [...(loaded?.events ?? []), ...Object.keys(loaded?.data ?? {}).map(tag => `data ${tag}`)]
  reasons.push(
    found.length > 0
      ? { code: 'indexed', message: `It is found by ${found.join(', ')}.`, details: { by: found } }
      : { code: 'not-indexed', message: 'No lookup and no indexer said anything about it.' }
  )
  return reasons
}

const ofTopic = async (engine: Engine, facts: Facts, topic: string): Promise<Reason[]> => {
  const { txid, vout, vouts, admissions } = facts
  const admission = Object.hasOwn(admissions, topic) ? admissions[topic] : undefined
  const failure = engine.failures.of(txid).get(topic)
  if (admission) {
    if (vouts !== undefined && vout >= vouts) return []
    if (admission.outputsToAdmit.includes(vout)) {
      return [await ofAdmitted(engine, facts, topic), ...(await remarksOf(engine, facts, topic))]
    }
    const reason = admission.refused?.[vout]
    const said = reason === undefined ? 'and gave no reason' : `because ${reason}`
    return [{ code: 'refused', topic, message: `${topic} did not admit it, ${said}.`, details: { reason } }]
  }
  if (!engine.topics.has(topic)) {
    return [{ code: 'topic-unknown', topic, message: `No topic is called ${topic}.` }]
  }
  if (failure) {
    const isConflict = failure.code === 'ERR_TXO_CONFLICT'
    const what = isConflict
      ? 'The transaction is in conflict with another'
      : `Submitting it to ${topic} failed`
    return [
      {
        code: isConflict ? 'conflict' : 'failed',
        topic,
        message: `${what} (${timeOf(failure.at)}): ${failure.message}.`,
        details: { ...failure }
      }
    ]
  }
  return [{ code: 'not-submitted', topic, message: `The transaction was not submitted to ${topic}.` }]
}

/** Remarks of the topic on an output that it has. */
const remarksOf = async (engine: Engine, { loaded }: Facts, topic: string): Promise<Reason[]> => {
  const manager = engine.topics.get(topic)
  if (!loaded?.topics?.includes(topic as Topic) || !manager || !isQuoinTopic(manager)) return []
  const remarks = (await manager.explain?.(loaded.outpoint)) ?? []
  return remarks.map(each => ({ ...each, topic }))
}

/** The reason for an output that the topic admitted: whether it is a member still. */
const ofAdmitted = async (
  engine: Engine,
  { loaded, spender, evicted, txid, vout }: Facts,
  topic: string
): Promise<Reason> => {
  if (loaded?.topics?.includes(topic as Topic)) {
    const kept = spender ? ', and keeps it for its history' : ''
    return { code: 'admitted', topic, message: `${topic} admitted it${kept}.` }
  }
  if (evicted !== undefined)
    return { code: 'removed', topic, message: `${topic} admitted it, until it was evicted.` }
  const spent = spender && (await engine.admissions(spender))?.[topic]
  const transaction = spender && (await engine.outputs.transactions.get(spender))
  const isRemoved = spent?.coinsRemoved.some(input => {
    const coin = transaction?.inputs[input]
    return coin && coin.vout === vout && bytesKey(coin.txid) === bytesKey(txid)
  })
  if (spender && isRemoved) {
    const by = formatTxid(spender)
    return {
      code: 'removed',
      topic,
      message: `${topic} admitted it, and removed it when ${by} spent it.`,
      details: { by }
    }
  }
  return {
    code: 'history-removed',
    topic,
    message: `${topic} admitted it, and removed it with the last coin whose history it was.`
  }
}

const timeOf = (seconds: number): string => new Date(seconds * 1000).toISOString()
