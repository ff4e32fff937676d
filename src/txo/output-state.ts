/** An output as the store has it: the fields of its hash, and its satoshis. */
import { bytesKey } from '../chain/index.ts'
import { startsWith, type Topic } from '../keyspace/index.ts'
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

const DATA_BYTES = fieldBytes(DATA)
const INPUTS_BYTES = fieldBytes(INPUTS)

/** The same three of fields as they were read: whoever only reads needs no names for them. */
export const eventsIn = (fields: readonly FieldValue[]): readonly string[] => {
  for (const { field, value } of fields) {
    if (field.length === EVENTS.length && startsWith(field, EVENTS)) return events.value.codec.decode(value)
  }
  return []
}

export const topicsIn = (fields: readonly FieldValue[]): Topic[] => {
  const topics: Topic[] = []
  for (const { field } of fields) if (startsWith(field, INPUTS_BYTES)) topics.push(inputs.decode(field)[0])
  return topics
}

export const dataIn = (
  fields: readonly FieldValue[],
  tags: readonly string[] | 'all'
): Record<string, unknown> => {
  const found: Record<string, unknown> = {}
  for (const { field, value } of fields) {
    if (!startsWith(field, DATA_BYTES)) continue
    const tag = tagOf(field)
    if (tags === 'all' || tags.includes(tag)) found[tag] = data.value.codec.decode(value)
  }
  return found
}

let lastField: Uint8Array = DATA_BYTES
let lastTag = ''

/** Outputs that are read together mostly have the same tags, and comparing bytes is faster than making text of them. */
const tagOf = (field: Uint8Array): string => {
  if (field.length !== lastField.length || !startsWith(field, lastField)) {
    lastField = field.slice()
    lastTag = fieldName(field).slice(DATA.length)
  }
  return lastTag
}
