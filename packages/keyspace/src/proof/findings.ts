/** The checks of each property, and their failures as text. */
import { toHex } from '@quoin/primitives'
import type { Component } from '../codec.ts'
import { inWords, type Layout, type ParsedKey, type Part } from '../layout.ts'
import type { ProvedRemedy } from '../repair/repair.ts'
import { copyWritten } from '../scratch-buffer.ts'
import { type ExplainedSpan, spansOf } from '../span.ts'
import { ambiguity } from './ambiguity.ts'
import { notCanonical } from './canonical.ts'
import type { OrderOfPart } from './order.ts'
import { commonKey, strayKey } from './overlap.ts'
import { inexactScan, missedKey } from './scan.ts'
import type { Effort } from './search.ts'

export type Property = 'P1' | 'P2' | 'P3' | 'P4' | 'P5' | 'P6' | 'P7'

/** A collection, as proofs see it. */
export interface Subject {
  readonly name: string
  readonly layout: Layout
  readonly scans: readonly PromisedScan[]
}

export interface PromisedScan {
  /** The leading components of the scan. */
  readonly components: readonly string[]
  /** The number of parts that the scan prefix spans, or undefined when the components do not lead the key. */
  readonly parts: number | undefined
  readonly order: 'value' | undefined
  /** A scan unless given: a deletion by prefix, or a read of one key. */
  readonly kind?: 'scan' | 'delete' | 'get'
  readonly reverse?: boolean
  /** The bound of a range: the components after the prefix, and the number of parts to the end of the bound. */
  readonly from?: { readonly components: readonly string[]; readonly parts: number }
  /** The bytes after the prefix to which a reverse walk seeks, instead of the end of the prefix. */
  readonly seek?: Uint8Array
}

export interface Finding {
  readonly property: Property
  readonly collections: readonly string[]
  /** Two keys in hexadecimal; the same one twice when it is one key with two meanings. */
  readonly witness: readonly [string, string]
  readonly message: string
  /** The scan prefix in hexadecimal, of a finding about a scan. */
  readonly prefix?: string
  /** The number of the scan in its collection, of a finding about a scan of one collection. */
  readonly scanIndex?: number
  /** The component, of a finding about one. */
  readonly component?: string
  /** Of a pair of collections: the key or the scan that they share. */
  readonly about?: string
  /** Both keys with their values. */
  readonly decoded?: readonly [DecodedKey, DecodedKey]
  /** The number of leading bytes that both keys share. */
  readonly shared?: number
  /** Known remedies, each with its verdict; given by audits. */
  readonly remedies?: readonly ProvedRemedy[]
}

interface DecodedKey {
  readonly collection: string
  readonly spans: readonly ExplainedSpan[]
}

export const twoReadings = (subject: Subject, effort: Effort): Finding[] => {
  const readings = ambiguity(subject.layout, effort)
  const collisions = subject.layout.parts.flatMap((part, i) =>
    part.kind === 'component' && part.component.codec.collision ? [collisionOf(subject, i)] : []
  )
  if (!readings) return collisions
  const [first, second] = readings.map(inWords)
  return [
    finding('P1', [subject], readings, `${key(readings[0])} reads as ${first} and as ${second}`),
    ...collisions
  ]
}

/** A component that writes two values as one word. */
const collisionOf = (subject: Subject, part: number): Finding => {
  const { layout } = subject
  const { name, codec } = (layout.parts[part] as Extract<Part, { kind: 'component' }>).component
  const word = copyWritten(target => codec.write(codec.collision![0], target, 0))
  const reading = layout.reading([
    ...layout.shortest(0, part),
    ...layout.word(part, [...word]),
    ...layout.shortest(part + 1)
  ])
  const [first, second] = codec.collision!.map(value => `${name}=${codec.show(value) || '(empty)'}`)
  return finding('P1', [subject], [reading, reading], `${key(reading)} reads as ${first} and as ${second}`, {
    component: name
  })
}

/** The verbs of messages, by the kind of a read. */
const VERBS = {
  scan: { name: 'scan', also: 'also catches', other: 'catches' },
  delete: { name: 'delete', also: 'also deletes', other: 'deletes' },
  get: { name: 'read', also: 'also reads', other: 'reads' }
} as const

export const strayUnderScan = (subject: Subject, scanIndex: number, effort: Effort): Finding[] => {
  const { components, parts, kind = 'scan', from, reverse, seek } = subject.scans[scanIndex]!
  if (parts === undefined || kind === 'get') return []
  const { layout } = subject
  const { name, also } = VERBS[kind]
  const scan = { subject, scanIndex, effort }
  const findings = stray(scan, components, parts, `the ${name} for`, also)
  // The end of a range down from a value is after all keys of the value, which its bytes must find exactly.
  if (from && reverse) {
    const all = [...components, ...from.components]
    findings.push(...stray(scan, all, from.parts, 'the range down from', 'begins with'))
  }
  const missed = seek && missedKey(layout, parts, seek, effort)
  if (missed) {
    const prefix = missed.key.subarray(0, missed.spans[parts - 1]?.end ?? 0)
    const found = `${toHex(prefix)}${toHex(seek)}`
    const message = `the reverse ${name} for ${named(components, missed)} seeks to ${found} and misses ${key(missed)}, which comes after it, with ${inWords(missed)}`
    findings.push(finding('P2', [subject], [missed, missed], message, { prefix, scanIndex, about: 'seek' }))
  }
  return findings
}

const stray = (
  { subject, scanIndex, effort }: { subject: Subject; scanIndex: number; effort: Effort },
  components: readonly string[],
  parts: number,
  what: string,
  also: string
): Finding[] => {
  const inexact = inexactScan(subject.layout, parts, effort)
  if (!inexact) return []
  const { asked, caught, prefix } = inexact
  const [want, get] = [asked, caught].map(reading => named(components, reading))
  const message = `${what} ${want} (prefix ${toHex(prefix)}) ${also} ${get}, ${key(caught)}`
  return [finding('P2', [subject], [asked, caught], message, { prefix, scanIndex, about: what })]
}

/** Keys of both collections, and keys of one under the scans of the other. */
export const overlaps = (a: Subject, b: Subject, effort: Effort): Finding[] => {
  // Most pairs differ in their first literals. Then only a scan of the whole store finds keys of both.
  if (diverge(a.layout.lead, b.layout.lead) && !scansAll(a) && !scansAll(b)) return []
  const shared = commonKey(a.layout, b.layout, effort)
  const both = shared?.map(inWords)
  return [
    ...(shared && both
      ? [
          finding(
            'P3',
            [a, b],
            shared,
            `${key(shared[0])} is one of ${a.name} with ${both[0]} and one of ${b.name} with ${both[1]}`,
            { about: 'key' }
          )
        ]
      : []),
    ...strayUnderOther(a, b, effort),
    ...strayUnderOther(b, a, effort)
  ]
}

const diverge = (a: Uint8Array, b: Uint8Array): boolean => {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return true
  return false
}

const scansAll = ({ scans }: Subject): boolean => scans.some(({ parts }) => parts === 0)

/** Only the widest promised scan of `a`, and the widest deletion: it catches every key that a narrower one does. */
const strayUnderOther = (a: Subject, b: Subject, effort: Effort): Finding[] =>
  (['scan', 'delete'] as const).flatMap(kind => {
    const leading = a.scans.flatMap(scan =>
      scan.parts === undefined || (scan.kind ?? 'scan') !== kind ? [] : [{ ...scan, parts: scan.parts }]
    )
    const [widest] = leading.sort((one, other) => one.parts - other.parts)
    const found = widest && strayKey(a.layout, widest.parts, b.layout, effort)
    if (!found) return []
    const [own, other] = found
    const prefix = own.key.subarray(0, own.spans[widest.parts - 1]?.end ?? 0)
    const { name, other: catches } = VERBS[kind]
    const scan = `the ${name} of ${a.name} for ${named(widest.components, own)} (prefix ${toHex(prefix)})`
    return [
      finding('P3', [a, b], found, `${scan} ${catches} ${key(other)} of ${b.name} with ${inWords(other)}`, {
        prefix,
        about: `${name} of ${a.name}`
      })
    ]
  })

/** The shortest key that two collections share, as a key with two owners. */
export const twoOwners = (overlapping: readonly Finding[]): Finding[] => {
  const shared = overlapping.filter(({ prefix }) => prefix === undefined)
  const [shortest] = shared.sort((a, b) => a.witness[0].length - b.witness[0].length)
  if (!shortest) return []
  const message = `key ${shortest.witness[0]} has two owners, ${shortest.collections.join(' and ')}`
  return [{ ...shortest, property: 'P6', message }]
}

/** Components that are not in the order of values although a scan claims so; each once, under the widest scan. */
export const wrongOrders = (subject: Subject, orders: readonly OrderOfPart[]): Finding[] => {
  // A range from a value needs the order of its bound alone; its later components may walk in any order.
  const claims = subject.scans.flatMap(({ order, parts, from }) => {
    if (parts === undefined || (!order && !from)) return []
    return [{ begin: parts, end: order ? Number.POSITIVE_INFINITY : from!.parts }]
  })
  return orders.flatMap((order, i) => {
    const part = subject.layout.parts[i]!
    if (!order.value || part.kind === 'literal' || claims.every(({ begin, end }) => i < begin || i >= end))
      return []
    const { name } = part.component
    const [small, large] = order.value.map(reading => named([name], reading))
    const really = order.by === 'word' ? 'it walks as text' : 'the byte after it decides'
    const message = `claims to walk in the order of ${name}, but ${large} comes before ${small}: ${really}`
    return [finding('P4', [subject], order.value, message, { component: name })]
  })
}

export const notItself = (subject: Subject, { name, codec }: Component): Finding[] => {
  const failure = notCanonical(codec)
  if (!failure) return []
  const word = toHex(failure.word)
  const back = failure.back instanceof Error ? failure.back.message : toHex(failure.back)
  return [
    {
      property: 'P5',
      collections: [subject.name],
      witness: [word, failure.back instanceof Error ? word : back],
      message: `${subject.name}: the word ${word} of component ${name} comes back as ${back}`
    }
  ]
}

/** Two keys of the scan that no one prefix finds, since they differ in a component that the scan leaves out. */
export const notLeading = (subject: Subject, scanIndex: number): Finding[] => {
  const { layout, scans } = subject
  const { components, parts, kind = 'scan' } = scans[scanIndex]!
  const count = layout.parts.filter(part => part.kind === 'component').length
  const isGet = kind === 'get'
  if (isGet ? components.length === count : parts !== undefined) return []
  const last = isGet
    ? layout.parts.length
    : layout.parts.findLastIndex(
        part => part.kind === 'component' && components.includes(part.component.name)
      )
  const left = layout.parts.flatMap((part, i) =>
    part.kind === 'component' && i < last && !components.includes(part.component.name) ? [{ part, i }] : []
  )
  const one = layout.reading(layout.shortest(0))
  // A component with a single word cannot differ; when all omitted components have one word, one key stands for two.
  const { part, i } =
    left.find(each => each.part.language.otherWord.join() !== each.part.language.completion(0).join()) ??
    left[0]!
  const other = layout.reading([
    ...layout.shortest(0, i),
    ...layout.word(i, part.language.otherWord),
    ...layout.shortest(i + 1)
  ])
  const names = left.map(each => (each.part.kind === 'component' ? each.part.component.name : '')).join(', ')
  const by = components.join(', ') || 'nothing'
  const message = isGet
    ? `the read of one key by ${by} leaves out ${names}: both keys have ${named(components, one)}`
    : `the ${VERBS[kind].name} by ${by} leaves out ${names}, before it in the key: no one prefix finds both keys with ${named(components, one)}`
  return [finding('P7', [subject], [one, other], message, { scanIndex })]
}

const key = (reading: ParsedKey): string => `key ${toHex(reading.key)}`

/** Some components of a parsed key: `pool=1`. */
const named = (components: readonly string[], reading: ParsedKey): string => {
  const spans = reading.spans.filter(
    ({ part }) => part.kind === 'component' && components.includes(part.component.name)
  )
  return spans.length === 0 ? 'all keys' : inWords({ key: reading.key, spans })
}

const finding = (
  property: Property,
  subjects: readonly Subject[],
  keys: readonly [ParsedKey, ParsedKey],
  message: string,
  about: Pick<Finding, 'scanIndex' | 'component' | 'about'> & { readonly prefix?: Uint8Array } = {}
): Finding => {
  const { prefix, ...place } = about
  const [first, second] = keys
  const differ = first.key.findIndex((byte, i) => byte !== second.key[i])
  return {
    property,
    collections: subjects.map(({ name }) => name),
    witness: [toHex(first.key), toHex(second.key)],
    message: subjects.length === 1 ? `${subjects[0]!.name}: ${message}` : message,
    ...(prefix && { prefix: toHex(prefix) }),
    ...place,
    decoded: [
      { collection: subjects[0]!.name, spans: spansOf(first) },
      { collection: subjects.at(-1)!.name, spans: spansOf(second) }
    ],
    shared: differ < 0 ? Math.min(first.key.length, second.key.length) : differ
  }
}
