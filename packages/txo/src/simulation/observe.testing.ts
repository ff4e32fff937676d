/**
 * What an index knows beside what can be derived, as lines of text: as it is in a store, and as the model has it. Where
 * they are the same, so are the two.
 */
import { Bump, chain } from '@quoin/chain'
import { bytesKey, formatOutpoint, formatTxid, makeOutpoint, type Txid } from '@quoin/primitives'
import type { StoreReads } from '@quoin/store'
import { outputEvents } from '../events.ts'
import { outputFields, outputs, spendFields } from '../keys.ts'
import { type OutputState, outputState } from '../output-state.ts'
import { inputsOf, type Place } from './knowledge.testing.ts'
import { NOTE, type OutputMarks, PLUGIN_EVENTS } from './marks.testing.ts'
import type { Model } from './model.testing.ts'

/** Texts by what they are about. */
export type Lines = ReadonlyMap<string, string>

const { output: outputHashes, spends } = outputs.collections
const { inputs, dependencies, spent } = outputFields.collections
const { transaction: transactions, proof: proofs } = chain.collections
const NOBODY = new Uint8Array(32) as Txid
const under = (key: Uint8Array, prefixLength: number) => key.subarray(0, prefixLength)

/** Everything that a store says. */
export const observe = async (store: StoreReads): Promise<Lines> => {
  const lines = new Map<string, string>()
  for (const { key, value } of await store.range(under(transactions.encode(NOBODY), 2))) {
    if (proofs.owns(key)) {
      const [txid] = proofs.decode(key)
      lines.set(`proof ${formatTxid(txid)}`, proofLine(Bump.parse(value), txid))
    } else lines.set(`stored ${formatTxid(transactions.decode(key)[0])}`, '')
  }
  const guarded = await store.use(spends).at().all()
  for (const { key, value } of guarded.entries(spendFields.collections.spend)) {
    lines.set(`spend ${formatOutpoint(makeOutpoint(...key))}`, formatTxid(value))
  }
  const places = new Map<string, Height | undefined>()
  for (const { key, value } of guarded.entries(spendFields.collections.transaction)) {
    const { seen, position, topics, vouts, spends: spending } = value
    const place = position && { height: position.height, index: Number(position.index) }
    places.set(formatTxid(key[0]), place)
    lines.set(
      `record ${formatTxid(key[0])}`,
      recordLine(
        seen,
        place,
        topics,
        vouts,
        spending.map(each => formatOutpoint(each.outpoint))
      )
    )
  }
  for (const { key, fields } of await store.hrange(under(outputHashes.encode(NOBODY, 0), 2))) {
    if (!outputHashes.owns(key)) continue
    const [txid, vout] = outputHashes.decode(key)
    const state = outputState(fields)
    const isIndexed = state.events.includes(outputEvents.types.txid.text(txid))
    const id = formatTxid(txid)
    lines.set(`output ${id}.${vout}`, outputLine(isIndexed, places.get(id), marksOf(state)))
  }
  return lines
}

/** Everything that the model says. */
export const expected = (model: Model): Lines => {
  const lines = new Map<string, string>()
  for (const [outpoint, spender] of model.spenders) lines.set(`spend ${outpoint}`, spender)
  for (const [id, { transaction, place, record }] of model.stored) {
    lines.set(`stored ${id}`, '')
    if (place) lines.set(`proof ${id}`, placeLine(place))
    lines.set(
      `record ${id}`,
      recordLine(record.seen, place, record.topics, transaction.outputCount, inputsOf(transaction))
    )
    for (let vout = 0; vout < transaction.outputCount; vout++) {
      const marks = record.outputs.get(vout)
      if (!record.isIndexed && !marks) continue
      lines.set(`output ${id}.${vout}`, outputLine(record.isIndexed, place, marks))
    }
  }
  return lines
}

/** The first thing that two do not agree on. */
export const difference = (found: Lines, wanted: Lines): string | undefined => {
  for (const [about, text] of wanted) {
    if (found.get(about) !== text) return `${about}: ${found.get(about) ?? 'missing'}; expected: ${text}`
  }
  for (const [about, text] of found) if (!wanted.has(about)) return `${about}: ${text}; expected nothing`
  return undefined
}

type Height = Pick<Place, 'height' | 'index'>

const placeLine = ({ height, index }: Height): string => `at ${height}/${index}`
const proofLine = (bump: Bump, txid: Txid): string =>
  placeLine({ height: bump.height, index: bump.offsetOf(txid) ?? -1 })

const recordLine = (
  seen: number,
  place: Height | undefined,
  topics: Iterable<string>,
  vouts: number,
  spending: readonly string[]
): string =>
  `seen ${seen}, ${place ? placeLine(place) : 'unmined'}, ${vouts} outputs, in [${[...topics].sort()}], spends [${[...spending].sort()}]`

const outputLine = (
  isIndexed: boolean,
  place: Height | undefined,
  marks: OutputMarks | undefined
): string => {
  const topics = [...(marks?.topics ?? [])].sort(([a], [b]) => (a < b ? -1 : 1))
  const admitted = topics.map(
    ([topic, { inputs: consumed, dependencies: needed, isSpent }]) =>
      `${topic}(${consumed};${needed}${isSpent ? ';spent' : ''})`
  )
  return [
    isIndexed ? 'indexed' : 'told',
    place ? placeLine(place) : 'unmined',
    `in [${admitted}]`,
    `events [${[...(marks?.events ?? [])].sort()}]`,
    `note ${marks?.note}`
  ].join(', ')
}

const marksOf = (state: OutputState): OutputMarks => ({
  topics: new Map(
    state.topics.map(topic => {
      const field = (name: Uint8Array) => state.fields.get(bytesKey(name))
      const needed = field(dependencies.encode(topic))
      return [
        topic,
        {
          inputs: inputs.value.codec
            .decode(field(inputs.encode(topic))!)
            .map(outpoint => formatOutpoint(outpoint)),
          dependencies: needed ? dependencies.value.codec.decode(needed).map(formatTxid) : [],
          isSpent: field(spent.encode(topic)) !== undefined
        }
      ]
    })
  ),
  events: new Set(state.events.filter(event => PLUGIN_EVENTS.includes(event))),
  note: state.data(NOTE) as string | undefined
})
