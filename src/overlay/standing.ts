/**
 * Judgements that stand: their topic is in the record of the transaction. Both are written in one commit; where a
 * database has lost writes, a judgement can be left alone, and vouches for outputs that are not there.
 */
import { type Awaitable, andThen, together } from '../awaitable.ts'
import type { Txid } from '../keyspace/index.ts'
import type { OutputStore } from '../txo/index.ts'
import { type Judgements, overlay } from './keys.ts'

const { judgements } = overlay.collections
const NONE: Judgements = {}

/** Of one transaction; on Redis, one round trip. */
export const standingJudgements = (outputs: OutputStore, txid: Txid): Awaitable<Judgements> =>
  andThen(
    together([outputs.store.use(judgements).atHand(txid), outputs.recordAtHand(txid)]),
    ([judged, record]) => {
      if (!judged || !record) return NONE
      const applied: readonly string[] = record.topics
      const standing = Object.entries(judged).filter(([topic]) => applied.includes(topic))
      return standing.length === Object.keys(judged).length ? judged : Object.fromEntries(standing)
    }
  )
