/** What a pretend plug-in says of transactions and their outputs: topics, events, data. */

import type { Transaction } from '@quoin/chain'
import { alphabet } from '@quoin/keyspace'
import { formatOutpoint, formatTxid, makeOutpoint, type Topic, type Txid } from '@quoin/primitives'
import { balanced, EventRegistry, event, events, outputEvents } from '../events.ts'
import { scriptEvents } from '../scripts/index.ts'
import { TxUpdate } from '../tx-update.ts'
import type { Mark } from './operation.testing.ts'
import type { Random } from './random.testing.ts'

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const pluginEvents = events('sim', {
  colour: event('sim:colour', 'Outputs by colour.', alphabet('colour', LETTERS)),
  shape: balanced(event('sim:shape', 'Outputs by shape, with what they come to.', alphabet('shape', LETTERS)))
})
const { colour, shape } = pluginEvents.types

export const EVENTS = new EventRegistry(outputEvents, scriptEvents, pluginEvents)
export const TOPICS = ['tm_one', 'tm_two', 'tm_three'] as Topic[]
export const PLUGIN_EVENTS = [
  ...['red', 'green', 'blue'].map(name => colour.text(name)),
  ...['circle', 'square'].map(name => shape.text(name))
]
/** The tag of its data. */
export const NOTE = 'sim'

interface Admitted {
  readonly inputs: readonly string[]
  readonly dependencies: readonly string[]
  readonly isSpent: boolean
}

export interface OutputMarks {
  readonly topics: ReadonlyMap<Topic, Admitted>
  readonly events: ReadonlySet<string>
  readonly note: string | undefined
}

/** By output number; none for one of which nothing was said. */
export type Outputs = ReadonlyMap<number, OutputMarks>

export interface Marked {
  readonly topics: ReadonlySet<Topic>
  readonly outputs: Outputs
}

const NOTHING: OutputMarks = { topics: new Map(), events: new Set(), note: undefined }

export const marked = (
  before: Marked,
  marks: readonly Mark[],
  isSpent: (vout: number) => boolean
): Marked => {
  const topics = new Set(before.topics)
  const outputs = new Map(before.outputs)
  for (const mark of marks) {
    if (mark.mark === 'apply') {
      topics.add(mark.topic)
      continue
    }
    if (mark.mark === 'spent' && isSpent(mark.vout)) continue
    const output = withMark(outputs.get(mark.vout) ?? NOTHING, mark)
    const isEmpty = output.topics.size === 0 && output.events.size === 0 && output.note === undefined
    if (isEmpty) outputs.delete(mark.vout)
    else outputs.set(mark.vout, output)
  }
  return { topics, outputs }
}

const withMark = (output: OutputMarks, mark: Exclude<Mark, { mark: 'apply' }>): OutputMarks => {
  if (mark.mark === 'say') {
    return { ...output, events: new Set([...output.events, ...mark.events]), note: mark.note }
  }
  const topics = new Map(output.topics)
  const known = topics.get(mark.topic)
  if (mark.mark === 'admit') {
    topics.set(mark.topic, {
      inputs: mark.inputs.map(outpoint => formatOutpoint(outpoint)),
      dependencies: mark.dependencies.map(formatTxid),
      isSpent: known?.isSpent ?? false
    })
  } else if (mark.mark === 'expel') {
    topics.delete(mark.topic)
  } else if (known) {
    topics.set(mark.topic, { ...known, isSpent: true })
  }
  return { ...output, topics }
}

/** All of it as one text. */
export const showMarks = ({ topics, outputs }: Marked): string =>
  JSON.stringify([
    [...topics].sort(),
    [...outputs]
      .sort(([a], [b]) => a - b)
      .map(([vout, { topics: admitted, events: said, note }]) => [
        vout,
        [...admitted].sort(([a], [b]) => (a < b ? -1 : 1)),
        [...said].sort(),
        note
      ])
  ])

export const unmarked = (output: OutputMarks): OutputMarks => ({
  ...output,
  topics: new Map([...output.topics].map(([topic, admitted]) => [topic, { ...admitted, isSpent: false }]))
})

/** The same as a change of the index. */
export const changeOf = (txid: Txid, marks: readonly Mark[]): TxUpdate => {
  const change = new TxUpdate(txid)
  for (const mark of marks) {
    switch (mark.mark) {
      case 'apply':
        change.markApplied(mark.topic)
        break
      case 'admit':
        change.admit(mark.topic, mark.vout, mark)
        break
      case 'expel':
        change.removeFromTopic(mark.topic, mark.vout)
        break
      case 'spent':
        change.markSpent(mark.topic, mark.vout)
        break
      case 'say':
        change.output(mark.vout, { events: mark.events, data: { [NOTE]: mark.note } })
    }
  }
  return change
}

/** Marks of one transaction that do not contradict each other, nor always what was said before. */
export const someMarks = (
  random: Random,
  { inputs, outputCount }: Transaction,
  before: Outputs = new Map()
): Mark[] => {
  const vout = random.between(0, outputCount - 1)
  const topic = random.pick(TOPICS)
  const consumed = inputs.filter(() => random.chance(0.5))
  const admit: Mark = {
    mark: 'admit',
    topic,
    vout,
    inputs: consumed.map(input => makeOutpoint(input.txid, input.vout)),
    dependencies: random.chance(0.3) ? consumed.map(({ txid }) => txid) : []
  }
  const say: Mark = {
    mark: 'say',
    vout: random.between(0, outputCount - 1),
    events: random.some(PLUGIN_EVENTS, random.between(0, 2)),
    note: `note ${random.between(1, 99)}`
  }
  const admitted = [...before].flatMap(([at, { topics }]) =>
    [...topics.keys()].map(by => ({ vout: at, topic: by }))
  )
  const [known = { vout, topic }] = random.some(admitted, 1)
  return random.weighted<Mark[]>([
    [4, [{ mark: 'apply', topic }, admit]],
    [2, [{ mark: 'apply', topic }, admit, say]],
    [2, [say]],
    [1, [{ mark: 'apply', topic }]],
    [admitted.length > 0 ? 3 : 1, [{ mark: 'spent', ...known }]],
    [admitted.length > 0 ? 3 : 1, [{ mark: 'expel', ...known }]]
  ])
}
