/**
 * Proves a set of collections against each other and against neighbours that are proved already. The proof is
 * complete: each property is decided, and a failure comes with the shortest keys that show it.
 *
 * P1 every key decodes one way · P2 every promised scan is exact · P3 collections are disjoint, and no promised
 * scan of one catches a key of another · P4 keys walk in the order that scans claim · P5 decoders accept exactly
 * what encoders produce · P6 every raw key has at most one owner · P7 every scan is over leading components.
 */
import { toHex } from '../bytes.ts'
import { inWords, type Layout, type Reading } from '../layout.ts'
import { ambiguity } from './ambiguity.ts'
import { notCanonical } from './canonical.ts'
import { type OrderOfPart, orderOfPart } from './order.ts'
import { commonKey, strayKey } from './overlap.ts'
import { inexactScan } from './scan.ts'
import type { Effort } from './search.ts'

export const PROPERTIES = {
  P1: 'every key decodes one way',
  P2: 'every promised scan is exact',
  P3: 'collections are disjoint, and so are their scans',
  P4: 'keys walk in the claimed order',
  P5: 'decoders accept exactly what encoders produce',
  P6: 'every raw key has at most one owner',
  P7: 'every scan is over leading components'
} as const

export type Property = keyof typeof PROPERTIES

/** What is proved of a collection. */
export interface Subject {
  readonly name: string
  readonly layout: Layout
  readonly scans: readonly PromisedScan[]
}

export interface PromisedScan {
  /** The components that are given. */
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
  /** The scan prefix in hexadecimal, where the finding is about a scan. */
  readonly prefix?: string
}

export interface Verdict {
  readonly property: Property
  readonly holds: boolean
  /** How many things were decided: collections, scans, pairs, components. */
  readonly checks: number
  /** How many states of product automata were visited to decide them. */
  readonly visited: number
  readonly milliseconds: number
}

export interface Proof {
  readonly sound: boolean
  readonly findings: readonly Finding[]
  readonly verdicts: readonly Verdict[]
  /** The states of all key automata. */
  readonly states: number
  /** For each subject, the order that each part of its key gives. */
  readonly orders: ReadonlyMap<Subject, readonly OrderOfPart[]>
}

export const prove = (subjects: readonly Subject[], neighbours: readonly Subject[] = []): Proof => {
  const findings: Finding[] = []
  const orders = new Map<Subject, readonly OrderOfPart[]>()
  const verdicts: Verdict[] = []

  const decide = (
    property: Property,
    work: (effort: Effort) => { checks: number; found: readonly Finding[] }
  ): void => {
    const effort = { visited: 0 }
    const start = performance.now()
    const { checks, found } = work(effort)
    const milliseconds = performance.now() - start
    findings.push(...found)
    verdicts.push({ property, holds: found.length === 0, checks, visited: effort.visited, milliseconds })
  }
  const each = <T>(
    property: Property,
    items: readonly T[],
    one: (item: T, effort: Effort) => Finding | undefined
  ): void =>
    decide(property, effort => ({
      checks: items.length,
      found: items.flatMap(item => one(item, effort) ?? [])
    }))

  const scans = subjects.flatMap(subject => subject.scans.map(scan => ({ subject, scan })))
  const pairs = pairsOf(subjects, neighbours)
  const owners: Finding[] = []

  each('P1', subjects, (subject, effort) => {
    const readings = ambiguity(subject.layout, effort)
    return (
      readings &&
      finding(
        'P1',
        [subject],
        readings,
        `${at(readings[0])} reads as ${inWords(readings[0])} and as ${inWords(readings[1])}`
      )
    )
  })
  each('P2', scans, ({ subject, scan }, effort) => scanFinding(subject, scan, effort))
  decide('P3', effort => ({
    checks: pairs.length,
    found: pairs.flatMap(([a, b]) => {
      const shared = commonKey(a.layout, b.layout, effort)
      if (shared) owners.push(ownerFinding(a, b, shared))
      return [
        ...(shared
          ? [
              finding(
                'P3',
                [a, b],
                shared,
                `${at(shared[0])} is a key of both: of ${a.name} with ${inWords(shared[0])}, of ${b.name} with ${inWords(shared[1])}`
              )
            ]
          : []),
        ...strayFinding(a, b, effort),
        ...strayFinding(b, a, effort)
      ]
    })
  }))
  decide('P4', effort => ({
    checks: scans.filter(({ scan }) => scan.order).length,
    found: subjects.flatMap(subject => {
      const order = subject.layout.parts.map((_, part) => orderOfPart(subject.layout, part, effort))
      orders.set(subject, order)
      return orderFindings(subject, order)
    })
  }))
  const components = subjects.flatMap(subject =>
    subject.layout.parts.flatMap(part =>
      part.kind === 'component' ? [{ subject, component: part.component }] : []
    )
  )
  each('P5', components, ({ subject, component }) => {
    const failure = notCanonical(component.codec)
    if (!failure) return undefined
    const word = toHex(failure.word)
    const back = failure.back instanceof Error ? failure.back.message : toHex(failure.back)
    return {
      property: 'P5',
      collections: [subject.name],
      witness: [word, failure.back instanceof Error ? word : back],
      message: `${subject.name}: the word ${word} of component ${component.name} comes back as ${back}`
    }
  })
  // The shortest key with two owners stands for all of them: the pairs are listed under P3.
  decide('P6', () => ({
    checks: subjects.length,
    found: owners.sort((a, b) => a.witness[0].length - b.witness[0].length).slice(0, 1)
  }))
  each('P7', scans, ({ subject, scan }) =>
    scan.parts === undefined ? leadingFinding(subject, scan) : undefined
  )

  const states = subjects.reduce((sum, { layout }) => sum + layout.size, 0)
  return { sound: findings.length === 0, findings, verdicts, states, orders }
}

const at = (reading: Reading): string => `key ${toHex(reading.key)}`

const finding = (
  property: Property,
  subjects: readonly Subject[],
  [first, second]: readonly [Reading, Reading],
  message: string,
  prefix?: Uint8Array
): Finding => ({
  property,
  collections: subjects.map(subject => subject.name),
  witness: [toHex(first.key), toHex(second.key)],
  message: subjects.length === 1 ? `${subjects[0]!.name}: ${message}` : message,
  ...(prefix ? { prefix: toHex(prefix) } : {})
})

const pairsOf = (subjects: readonly Subject[], neighbours: readonly Subject[]): [Subject, Subject][] =>
  subjects.flatMap((a, i) => [...subjects.slice(i + 1), ...neighbours].map((b): [Subject, Subject] => [a, b]))

const named = (components: readonly string[], reading: Reading): string => {
  const given = reading.spans.filter(
    ({ part }) => part.kind === 'component' && components.includes(part.component.name)
  )
  return given.length === 0 ? 'all keys' : inWords({ key: reading.key, spans: given })
}

const scanFinding = (subject: Subject, scan: PromisedScan, effort: Effort): Finding | undefined => {
  if (scan.parts === undefined) return undefined
  const inexact = inexactScan(subject.layout, scan.parts, effort)
  if (!inexact) return undefined
  const { asked, caught, prefix } = inexact
  return finding(
    'P2',
    [subject],
    [asked, caught],
    `the scan for ${named(scan.components, asked)} (prefix ${toHex(prefix)}) also catches ${named(scan.components, caught)}, key ${toHex(caught.key)}`,
    prefix
  )
}

/** The widest promised scan of `a` catches everything that a narrower one does, so it is the one to ask. */
const strayFinding = (a: Subject, b: Subject, effort: Effort): Finding[] => {
  const widest = a.scans.reduce<PromisedScan | undefined>(
    (least, scan) => (scan.parts !== undefined && (!least || scan.parts < least.parts!) ? scan : least),
    undefined
  )
  if (widest?.parts === undefined) return []
  const stray = strayKey(a.layout, widest.parts, b.layout, effort)
  if (!stray) return []
  const prefix = stray[0].key.subarray(0, stray[0].spans[widest.parts - 1]?.end ?? 0)
  return [
    finding(
      'P3',
      [a, b],
      stray,
      `the scan of ${a.name} for ${named(widest.components, stray[0])} (prefix ${toHex(prefix)}) catches key ${toHex(stray[1].key)} of ${b.name} with ${inWords(stray[1])}`,
      prefix
    )
  ]
}

const ownerFinding = (a: Subject, b: Subject, shared: readonly [Reading, Reading]): Finding =>
  finding('P6', [a, b], shared, `${at(shared[0])} has two owners, ${a.name} and ${b.name}`)

const orderFindings = (subject: Subject, order: readonly OrderOfPart[]): Finding[] => {
  // Each component is reported once, under the widest scan that claims an order for it.
  const claimed = subject.scans.flatMap(scan => (scan.order && scan.parts !== undefined ? [scan.parts] : []))
  if (claimed.length === 0) return []
  const from = Math.min(...claimed)
  return order.slice(from).flatMap((part, i) => {
    if (!part.value) return []
    const is = subject.layout.parts[from + i]!
    const name = is.kind === 'component' ? is.component.name : ''
    const [small, large] = part.value
    const really = part.by === 'word' ? 'it walks as text' : 'the byte after it decides'
    return [
      finding(
        'P4',
        [subject],
        part.value,
        `claims to walk in the order of ${name}, but ${named([name], large)} comes before ${named([name], small)}: ${really}`
      )
    ]
  })
}

/** Two keys that the scan asks for and that no one prefix finds, as a component before them differs. */
const leadingFinding = ({ name, layout }: Subject, scan: PromisedScan): Finding => {
  const skipped = layout.parts.findIndex(
    part => part.kind === 'component' && !scan.components.includes(part.component.name)
  )
  const short = layout.shortest(0)
  const language = layout.parts[skipped]!.language
  const other = language.stretch(0, language.minLength)
  const longer = [
    ...layout.shortest(0, skipped),
    ...layout.word(skipped, other),
    ...layout.shortest(skipped + 1)
  ]
  const two: [Reading, Reading] = [layout.reading(short), layout.reading(longer)]
  return finding(
    'P7',
    [{ name, layout, scans: [] }],
    two,
    `the scan by ${scan.components.join(', ')} is not over leading components: both keys have ${named(scan.components, two[0])}, with other components before it`
  )
}
