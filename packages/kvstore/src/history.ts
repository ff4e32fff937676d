/**
 * The history of an entry (BRC-35 §3.6): the spent tokens of its tuple that led to the live one, found by walking back over
 * the inputs that the topic retained.
 */
import { bytesKey, type Outpoint, type Topic, txidOf, voutOf } from '@quoin/primitives'
import { type OutputStore, outputFields, outputs as outputKeys } from '@quoin/txo'
import { entryEventOf } from './keys.ts'

export const TOPIC = 'tm_kvstore' as Topic

const { output } = outputKeys.collections
const { events, inputs } = outputFields.collections

export interface History {
  /** The newest first. */
  readonly tokens: readonly Outpoint[]
  /** Tokens to continue from; several when a transaction spent several tokens. */
  readonly rest: readonly Outpoint[]
}

/** Up to `limit` tokens of the tuple of `tip`, from `tip` backwards or from the `rest` of an earlier call. */
export const historyOf = async (
  outputs: OutputStore,
  tip: Outpoint,
  limit: number,
  from: readonly Outpoint[] = [tip]
): Promise<History> => {
  const tokens: Outpoint[] = []
  const seen = new Set(from.map(bytesKey))
  const entry = entryEventOf((await stateOf(outputs, tip)).get(events) ?? [])
  let queue = await newestFirst(outputs, [], from)
  while (queue.length > 0 && tokens.length < limit) {
    const [{ outpoint }, ...others] = queue as [ScoredOutpoint, ...ScoredOutpoint[]]
    queue = others
    const state = await stateOf(outputs, outpoint)
    const tuple = entryEventOf(state.get(events) ?? [])
    // A retained input may belong to another entry that the same transaction updates.
    if (tuple === undefined || tuple !== entry) continue
    tokens.push(outpoint)
    const prior = (state.get(inputs, TOPIC) ?? []).filter(each => !seen.has(bytesKey(each)))
    for (const each of prior) seen.add(bytesKey(each))
    if (prior.length > 0) queue = await newestFirst(outputs, queue, prior)
  }
  return { tokens, rest: queue.map(({ outpoint }) => outpoint) }
}

interface ScoredOutpoint {
  readonly outpoint: Outpoint
  readonly score: number
}

/** The queue with `more` in it. It holds several outpoints only where a transaction spends several tokens. */
const newestFirst = async (
  outputs: OutputStore,
  queue: readonly ScoredOutpoint[],
  more: readonly Outpoint[]
): Promise<readonly ScoredOutpoint[]> => {
  if (queue.length + more.length === 1) return [{ outpoint: more[0]!, score: 0 }]
  const loaded = await outputs.loadOutputs(more)
  const scored = more.map((outpoint, i) => ({ outpoint, score: loaded[i]?.score ?? 0 }))
  return [...queue, ...scored].sort((a, b) => b.score - a.score || Buffer.compare(b.outpoint, a.outpoint))
}

const stateOf = ({ store }: OutputStore, outpoint: Outpoint) =>
  store.use(output).at(txidOf(outpoint), voutOf(outpoint)).all()
