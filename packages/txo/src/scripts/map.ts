/**
 * `map`: metadata as pairs (Magic Attribute Protocol). `SET ‹key› ‹value› …` gives values; several of them in one
 * output are merged, and the later value counts. `ADD ‹key› ‹value› …` adds to a set, `DEL ‹key› …` removes keys; of
 * other commands the name is kept.
 *
 * Keys are text of at most 256 bytes and values text of at most 16 KiB; other pairs are left out. 64 KiB of an output
 * are kept.
 */
import { type Bitcom, fieldsOf, readBitcom, segmentsOf } from './bitcom.ts'
import { scriptEvents } from './events.ts'
import { NONE, type ScriptParser } from './parser.ts'
import { isClaim, textOf } from './text.ts'
import { type ScriptView, viewOf } from './view.ts'

export interface MapRecord {
  readonly cmd: string
  /** The pairs of SET. */
  readonly data: Readonly<Record<string, string>>
  /** The key of ADD, and the values added to its set. */
  readonly key?: string
  readonly adds?: readonly string[]
  /** The keys of DEL. */
  readonly deletes?: readonly string[]
}

const PROTOCOL = '1PuQa7K62MiKCtssSLKy1kh56WWU7MtUR5'
const MAX_FIELDS = 1 + 2 * 256
const MAX_VALUE = 16 * 1024
const MAX_BYTES = 64 * 1024

export const decodeMap = (script: Uint8Array | ScriptView): MapRecord | undefined => {
  const bitcom = viewOf(script).once(readBitcom)
  const commands = bitcom ? commandsOf(bitcom) : []
  const sets = commands.filter(({ cmd }) => cmd === 'SET')
  if (sets.length > 0) return { cmd: 'SET', data: pairsOf(sets.map(({ fields }) => fields)) }
  const first = commands[0]
  if (!first) return undefined
  const { cmd, fields } = first
  const texts = textsOf(fields)
  if (cmd === 'ADD' && texts.length > 0) return { cmd, data: {}, key: texts[0]!, adds: texts.slice(1) }
  return cmd === 'DEL' || cmd === 'DELETE' ? { cmd, data: {}, deletes: texts } : { cmd, data: {} }
}

const commandsOf = (bitcom: Bitcom): { cmd: string; fields: Uint8Array[] }[] =>
  segmentsOf(bitcom, PROTOCOL).flatMap(([, segment]) => {
    const [command, ...fields] = fieldsOf(bitcom, segment, MAX_FIELDS)
    const cmd = textOf(command, 16)
    return cmd !== undefined && /^[A-Z]+$/.test(cmd) ? [{ cmd, fields }] : []
  })

const pairsOf = (sets: readonly (readonly Uint8Array[])[]): Record<string, string> => {
  const pairs = new Map<string, string>()
  let bytes = 0
  for (const fields of sets) {
    for (let i = 0; i + 1 < fields.length; i += 2) {
      const key = textOf(fields[i])
      const value = textOf(fields[i + 1], MAX_VALUE)
      if (key === undefined || value === undefined) continue
      bytes += fields[i]!.length + fields[i + 1]!.length
      if (bytes > MAX_BYTES) return Object.fromEntries(pairs)
      pairs.set(key, value)
    }
  }
  // `fromEntries` makes an own property of the key `__proto__` too.
  return Object.fromEntries(pairs)
}

const textsOf = (fields: readonly Uint8Array[]): string[] =>
  fields.map(field => textOf(field)).filter(text => text !== undefined)

const { mapType, mapApp } = scriptEvents.types

export const mapParser: ScriptParser = {
  tag: 'map',
  about: 'Metadata behind an OP_RETURN.',
  parse(view) {
    const record = decodeMap(view)
    if (!record) return undefined
    const type = ownText(record.data, 'type')
    const app = ownText(record.data, 'app')
    return {
      data: record,
      events: [...(isClaim(type) ? [mapType.text(type)] : []), ...(isClaim(app) ? [mapApp.text(app)] : [])],
      owners: NONE
    }
  }
}

const ownText = (data: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(data, key) ? data[key] : undefined
