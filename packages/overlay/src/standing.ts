/**
 * Judgements that stand: their topic is in the record of the transaction. Both are written in one commit; where a
 * database has lost writes, a judgement can be left alone, and vouches for outputs that are not there.
 */

import type { Txid } from '@quoin/primitives'
import type { ReadPlan } from '@quoin/store'
import type { OutputStore } from '@quoin/txo'
import { type Judgements, overlay } from './keys.ts'

const { judgements } = overlay.collections
const NONE: Judgements = {}

/** Of one transaction. A new one has no judgement, and costs one read. */
export function* standingJudgements(outputs: OutputStore, txid: Txid): ReadPlan<Judgements> {
  const judged = yield* outputs.store.use(judgements).plan(txid)
  if (!judged) return NONE
  const record = yield* outputs.recordPlan(txid)
  return standing(judged, record?.topics ?? [])
}

const standing = (judged: Judgements, applied: readonly string[]): Judgements => {
  const kept = Object.entries(judged).filter(([topic]) => applied.includes(topic))
  return kept.length === Object.keys(judged).length ? judged : Object.fromEntries(kept)
}
