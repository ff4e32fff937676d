/** The stored state of an output: the fields of its hash. */
import {
  bytesKey,
  bytesOfKey,
  equalBytes,
  type Outpoint,
  startsWith,
  type Topic,
  type Txid
} from '@quoin/primitives'
import type { FieldValue } from '@quoin/store'
import { outputFields } from './keys.ts'

const { events, satoshis, data, dependencies, inputs, spent } = outputFields.collections
const EVENTS = events.encode()
const SATOSHIS = satoshis.encode()

const EVENTS_NAME = bytesKey(EVENTS)
const SATOSHIS_NAME = bytesKey(SATOSHIS)
const INPUTS = 'in:'
const DATA = 'dt:'

/** The state of an output. Fields are decoded on first use. */
export class OutputState {
  /** Values by the map key (`bytesKey`) of their field. */
  readonly fields: ReadonlyMap<string, Uint8Array>
  #events: readonly string[] | undefined
  #topics: readonly Topic[] | undefined
  #data: Map<string, unknown> | undefined

  constructor(fields: ReadonlyMap<string, Uint8Array>) {
    this.fields = fields
  }

  /** Whether the output is indexed. */
  get isSaved(): boolean {
    return this.fields.size > 0
  }

  get satoshis(): bigint | undefined {
    const value = this.fields.get(SATOSHIS_NAME)
    return value && BigInt(satoshis.value.codec.decode(value))
  }

  /** Sorted. */
  get events(): readonly string[] {
    if (!this.#events) {
      const value = this.fields.get(EVENTS_NAME)
      this.#events = value ? events.value.codec.decode(value) : []
    }
    return this.#events
  }

  /** The topics that admitted it. */
  get topics(): readonly Topic[] {
    this.#topics ??= this.#namesAfter(INPUTS).map(name => inputs.decode(bytesOfKey(name))[0])
    return this.#topics
  }

  /** The outputs that a topic saw its transaction consume. */
  inputs(topic: Topic): readonly Outpoint[] {
    const value = this.fields.get(bytesKey(inputs.encode(topic)))
    return value ? inputs.value.codec.decode(value) : []
  }

  /** The transactions that a topic needs with the output. */
  dependencies(topic: Topic): readonly Txid[] {
    const value = this.fields.get(bytesKey(dependencies.encode(topic)))
    return value ? dependencies.value.codec.decode(value) : []
  }

  /** Whether a topic marked the output as spent, without a spender. */
  isMarkedSpent(topic: Topic): boolean {
    return this.fields.has(bytesKey(spent.encode(topic)))
  }

  /** The data under a tag, shared: do not change it. */
  data(tag: string): unknown {
    const known = this.#data?.get(tag)
    if (known !== undefined) return known
    const value = this.fields.get(DATA + tag)
    if (!value) return undefined
    const read = data.value.codec.decode(value)
    this.#data ??= new Map()
    this.#data.set(tag, read)
    return read
  }

  allData(): Record<string, unknown> {
    const tags = this.#namesAfter(DATA).map(name => name.slice(DATA.length))
    return Object.fromEntries(tags.map(tag => [tag, this.data(tag)]))
  }

  #namesAfter(prefix: string): string[] {
    const names: string[] = []
    for (const name of this.fields.keys()) if (name.startsWith(prefix)) names.push(name)
    return names
  }
}

export const NO_OUTPUT = new OutputState(new Map())

/** The changes of a state in a commit. */
export class OutputDraft {
  readonly #before: OutputState
  /** A copy of the fields after the first change. */
  #fields: Map<string, Uint8Array> | undefined

  constructor(before: OutputState) {
    this.#before = before
  }

  get fields(): ReadonlyMap<string, Uint8Array> {
    return this.#fields ?? this.#before.fields
  }

  get events(): readonly string[] {
    const value = this.fields.get(EVENTS_NAME)
    if (value === this.#before.fields.get(EVENTS_NAME)) return this.#before.events
    return value ? events.value.codec.decode(value) : []
  }

  /** An equal value keeps the bytes that were read: unchanged fields are not written. */
  set(name: string, value: Uint8Array): void {
    const before = this.fields.get(name)
    if (before && equalBytes(before, value)) return
    this.#fields ??= new Map(this.#before.fields)
    this.#fields.set(name, value)
  }

  delete(name: string): void {
    if (!this.fields.has(name)) return
    this.#fields ??= new Map(this.#before.fields)
    this.#fields.delete(name)
  }

  clear(): void {
    this.#fields = new Map()
  }

  /** The changed state, or the same state without changes. */
  finish(): OutputState {
    return this.#fields ? new OutputState(this.#fields) : this.#before
  }
}

export const outputState = (fields: readonly FieldValue[]): OutputState => {
  const named = new Map<string, Uint8Array>()
  for (const { field, value } of fields) named.set(bytesKey(field), value)
  return new OutputState(named)
}

const DATA_BYTES = bytesOfKey(DATA)
const INPUTS_BYTES = bytesOfKey(INPUTS)

/** Events, satoshis, topics and data of fields as read: loading outputs does not need map keys. */
export const eventsIn = (fields: readonly FieldValue[]): readonly string[] => {
  const value = fieldValue(fields, EVENTS)
  return value ? events.value.codec.decode(value) : []
}

export const satoshisIn = (fields: readonly FieldValue[]): bigint | undefined => {
  const value = fieldValue(fields, SATOSHIS)
  return value && BigInt(satoshis.value.codec.decode(value))
}

const fieldValue = (fields: readonly FieldValue[], name: Uint8Array): Uint8Array | undefined =>
  fields.find(({ field }) => field.length === name.length && startsWith(field, name))?.value

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

/** Memoizes the last tag: outputs of one read mostly have the same tags, and comparing bytes is faster than decoding. */
const tagOf = (field: Uint8Array): string => {
  if (field.length !== lastField.length || !startsWith(field, lastField)) {
    lastField = field.slice()
    lastTag = bytesKey(field).slice(DATA.length)
  }
  return lastTag
}
