/** An output as the store has it: the fields of its hash, and its satoshis. */
import { bytesKey } from '../chain/index.ts'
import type { Topic } from '../keyspace/index.ts'
import type { FieldValue } from '../store/index.ts'
import { outputFields } from './keys.ts'

const { events, data, inputs } = outputFields.collections
const EVENTS = events.encode()

/** Fields by their bytes as text of one character a byte. */
export interface OutputState {
  readonly fields: ReadonlyMap<string, Uint8Array>
  readonly satoshis: bigint | undefined
}

export const NO_OUTPUT: OutputState = { fields: new Map(), satoshis: undefined }

export const fieldName = bytesKey
const fieldBytes = (name: string): Uint8Array => Buffer.from(name, 'latin1')

export const outputState = (fields: readonly FieldValue[], satoshis: bigint | undefined): OutputState => ({
  fields: new Map(fields.map(({ field, value }) => [fieldName(field), value])),
  satoshis
})

/** Whether anything is known of the output itself. */
export const isSaved = ({ fields }: OutputState): boolean => fields.size > 0

const EVENTS_NAME = fieldName(EVENTS)
const INPUTS = 'in:'
const DATA = 'dt:'

/** Sorted. */
export const eventsOf = ({ fields }: OutputState): readonly string[] => {
  const value = fields.get(EVENTS_NAME)
  return value ? events.value.codec.decode(value) : []
}

/** The topics that admitted it. */
export const topicsOf = ({ fields }: OutputState): Topic[] =>
  [...fields.keys()].filter(name => name.startsWith(INPUTS)).map(name => inputs.decode(fieldBytes(name))[0])

export const dataOf = ({ fields }: OutputState, tags: readonly string[] | 'all'): Record<string, unknown> => {
  const found: Record<string, unknown> = {}
  for (const [name, value] of fields) {
    if (!name.startsWith(DATA)) continue
    const tag = name.slice(DATA.length)
    if (tags === 'all' || tags.includes(tag)) found[tag] = data.value.codec.decode(value)
  }
  return found
}
