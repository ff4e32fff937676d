/** The transactions that a topic admitted from blocks, and the stamps of the commits that change them. */
import type { Topic } from '@quoin/primitives'
import type { Batch, Store } from '@quoin/store'
import { newId, outputs as outputKeys } from '@quoin/txo'
import { type Admission, admissions, overlay, stampFields } from '../keys.ts'
import type { AdmittedTransaction } from './tree.ts'

const { topicTransactions } = outputKeys.collections
const { sectionStamps, blockStamps } = overlay.collections
const { stamp: stampField } = stampFields.collections

/** Blocks of a section. The keys of stamps depend on it. */
export const SECTION = 256
/** Rows of one read. */
const PAGE = 10_000

export const sectionOf = (height: number): number => Math.floor(height / SECTION)

/** Stamps by number of the section or height of the block. */
export type Stamps = ReadonlyMap<number, string>

/** Part of a commit that changes the transactions of a topic in a block: two writes, and no read. */
export const stampBlockIn = (batch: Batch, topic: Topic, height: number): void => {
  const [section, id] = [sectionOf(height), newId()]
  batch.use(sectionStamps).at(topic).set(stampField, [section], id)
  batch.use(blockStamps).at(topic, section).set(stampField, [height], id)
}

export const readSectionStamps = async (store: Store, topic: Topic): Promise<Stamps> =>
  stampsOf((await store.use(sectionStamps).at(topic).all()).entries(stampField))

export const readBlockStamps = async (store: Store, topic: Topic, section: number): Promise<Stamps> =>
  stampsOf((await store.use(blockStamps).at(topic, section).all()).entries(stampField))

const stampsOf = (entries: readonly { key: readonly [number]; value: Uint8Array }[]): Stamps =>
  new Map(entries.map(({ key, value }) => [key[0], Buffer.from(value).toString('hex')]))

/**
 * Whether a topic admitted an output of the transaction, or had a coin among its inputs. Other transactions are evaluated
 * too, and depend on who submitted them where: nodes would not agree on them.
 */
const isAdmitted = ({ outputsToAdmit, previousCoins }: Admission): boolean =>
  outputsToAdmit.length + previousCoins.length > 0

/** Admitted transactions by the height of their block, in block order. Both heights are included. */
export const readAdmitted = async (
  store: Store,
  topic: Topic,
  from: number,
  to: number
): Promise<ReadonlyMap<number, readonly AdmittedTransaction[]>> => {
  const blocks = new Map<number, AdmittedTransaction[]>()
  const transactions = store.use(topicTransactions).at(topic)
  for (let offset = 0; ; offset += PAGE) {
    const rows = await transactions.range({ min: from, max: to + 1, maxExclusive: true, offset, count: PAGE })
    const decisions = await store.use(admissions).getMany(rows.map(({ member }) => [member]))
    for (const [i, { member: txid, score }] of rows.entries()) {
      const admission = decisions[i]?.[topic]
      if (!admission || !isAdmitted(admission)) continue
      const height = Math.floor(score)
      const admitted = { txid, index: Math.round((score - height) * 1e9) }
      const block = blocks.get(height)
      if (block) block.push(admitted)
      else blocks.set(height, [admitted])
    }
    if (rows.length < PAGE) return blocks
  }
}
