/** The checks of each property, and their failures as text. */
import { toHex } from '@quoin/primitives'
import type { Component } from '../codec.ts'
import { inWords, type Layout, type ParsedKey } from '../layout.ts'
import { ambiguity } from './ambiguity.ts'
import { notCanonical } from './canonical.ts'
import type { OrderOfPart } from './order.ts'
import { commonKey, strayKey } from './overlap.ts'
import { inexactScan } from './scan.ts'
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
}

export interface Finding {
  readonly property: Property
  readonly collections: readonly string[]
  /** Two keys in hexadecimal; the same one twice when it is one key with two meanings. */
  readonly witness: readonly [string, string]
  readonly message: string
  /** The scan prefix in hexadecimal, of a finding about a scan. */
  readonly prefix?: string
}

export const twoReadings = (subject: Subject, effort: Effort): Finding[] => {
  const readings = ambiguity(subject.layout, effort)
  if (!readings) return []
  const [first, second] = readings.map(inWords)
  return [finding('P1', [subject], readings, `${key(readings[0])} reads as ${first} and as ${second}`)]
}

export const strayUnderScan = (subject: Subject, scan: PromisedScan, effort: Effort): Finding[] => {
  const inexact = scan.parts === undefined ? undefined : inexactScan(subject.layout, scan.parts, effort)
  if (!inexact) return []
  const { asked, caught, prefix } = inexact
  const [want, get] = [asked, caught].map(reading => named(scan.components, reading))
  const message = `the scan for ${want} (prefix ${toHex(prefix)}) also catches ${get}, ${key(caught)}`
  return [finding('P2', [subject], [asked, caught], message, prefix)]
}

/** Keys of both collections, and keys of one under the scans of the other. */
export const overlaps = (a: Subject, b: Subject, effort: Effort): Finding[] => {
  const shared = commonKey(a.layout, b.layout, effort)
  const both = shared?.map(inWords)
  return [
    ...(shared && both
      ? [
          finding(
            'P3',
            [a, b],
            shared,
            `${key(shared[0])} is one of ${a.name} with ${both[0]} and one of ${b.name} with ${both[1]}`
          )
        ]
      : []),
    ...strayUnderOther(a, b, effort),
    ...strayUnderOther(b, a, effort)
  ]
}

/** Only the widest promised scan of `a`: it catches every key that a narrower one does. */
const strayUnderOther = (a: Subject, b: Subject, effort: Effort): Finding[] => {
  const leading = a.scans.flatMap(({ parts, components }) =>
    parts === undefined ? [] : [{ parts, components }]
  )
  const [widest] = leading.sort((one, other) => one.parts - other.parts)
  const stray = widest && strayKey(a.layout, widest.parts, b.layout, effort)
  if (!stray) return []
  const [own, other] = stray
  const prefix = own.key.subarray(0, own.spans[widest.parts - 1]?.end ?? 0)
  const scan = `the scan of ${a.name} for ${named(widest.components, own)} (prefix ${toHex(prefix)})`
  return [
    finding('P3', [a, b], stray, `${scan} catches ${key(other)} of ${b.name} with ${inWords(other)}`, prefix)
  ]
}

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
  const claims = subject.scans.flatMap(({ order, parts }) => (order && parts !== undefined ? [parts] : []))
  return orders.flatMap((order, i) => {
    const part = subject.layout.parts[i]!
    if (!order.value || part.kind === 'literal' || claims.every(from => i < from)) return []
    const { name } = part.component
    const [small, large] = order.value.map(reading => named([name], reading))
    const really = order.by === 'word' ? 'it walks as text' : 'the byte after it decides'
    const message = `claims to walk in the order of ${name}, but ${large} comes before ${small}: ${really}`
    return [finding('P4', [subject], order.value, message)]
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
export const notLeading = (subject: Subject, { components, parts }: PromisedScan): Finding[] => {
  if (parts !== undefined) return []
  const { layout } = subject
  const last = layout.parts.findLastIndex(
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
  const message = `the scan by ${components.join(', ')} leaves out ${names}, before it in the key: no one prefix finds both keys with ${named(components, one)}`
  return [finding('P7', [subject], [one, other], message)]
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
  [first, second]: readonly [ParsedKey, ParsedKey],
  message: string,
  prefix?: Uint8Array
): Finding => ({
  property,
  collections: subjects.map(({ name }) => name),
  witness: [toHex(first.key), toHex(second.key)],
  message: subjects.length === 1 ? `${subjects[0]!.name}: ${message}` : message,
  ...(prefix ? { prefix: toHex(prefix) } : {})
})
