/**
 * Proves collections that share a store. The proof is complete: each property is decided, and a failure comes with
 * the shortest keys that show it.
 */
import {
  type Finding,
  notItself,
  notLeading,
  overlaps,
  type Property,
  type Subject,
  strayUnderScan,
  twoOwners,
  twoReadings,
  wrongOrders
} from './findings.ts'
import { type OrderOfPart, ordersOf } from './order.ts'
import type { Effort } from './search.ts'

export const PROPERTIES: Readonly<Record<Property, string>> = {
  P1: 'every key decodes one way',
  P2: 'every promised scan is exact',
  P3: 'collections are disjoint, and so are their scans',
  P4: 'keys walk in the claimed order',
  P5: 'decoders accept exactly what encoders produce',
  P6: 'every raw key has at most one owner',
  P7: 'every scan is over leading components'
}

export interface Verdict {
  readonly property: Property
  readonly holds: boolean
  /** The number of decisions: collections, scans, pairs, components. */
  readonly checks: number
  /** The number of states of product automata visited. */
  readonly visited: number
  readonly milliseconds: number
}

export interface Proof {
  readonly sound: boolean
  readonly findings: readonly Finding[]
  readonly verdicts: readonly Verdict[]
  /** The states of all key automata. */
  readonly states: number
}

/** For each collection, the order that each part of its key gives. */
export type Orders = ReadonlyMap<Subject, readonly OrderOfPart[]>

/** Decides all seven properties of the collections of a keyspace. */
export const prove = (subjects: readonly Subject[]): Proof & { readonly orders: Orders } => {
  const scans = subjects.flatMap(subject => subject.scans.map(scan => ({ subject, scan })))
  const components = subjects.flatMap(subject =>
    subject.layout.parts.flatMap(part =>
      part.kind === 'component' ? [{ subject, component: part.component }] : []
    )
  )
  const orders = new Map<Subject, readonly OrderOfPart[]>()
  const pairs = subjects.flatMap((a, i) => subjects.slice(i + 1).map((b): Pair => [a, b]))
  const proof = gather(subjects, [
    decide('P1', subjects, twoReadings),
    decide('P2', scans, ({ subject, scan }, effort) => strayUnderScan(subject, scan, effort)),
    ...disjointness(pairs),
    decide('P4', subjects, (subject, effort) => {
      const order = ordersOf(subject.layout, effort)
      orders.set(subject, order)
      return wrongOrders(subject, order)
    }),
    decide('P5', components, ({ subject, component }) => notItself(subject, component)),
    decide('P7', scans, ({ subject, scan }) => notLeading(subject, scan))
  ])
  return { ...proof, orders }
}

/** Proves collections disjoint from neighbours in the same store: P3 and P6. */
export const proveDisjoint = (subjects: readonly Subject[], neighbours: readonly Subject[]): Proof =>
  gather(subjects, disjointness(subjects.flatMap(a => neighbours.map((b): Pair => [a, b]))))

type Pair = readonly [Subject, Subject]
type Decision = Verdict & { readonly findings: readonly Finding[] }

const disjointness = (pairs: readonly Pair[]): Decision[] => {
  const p3 = decide('P3', pairs, ([a, b], effort) => overlaps(a, b, effort))
  return [p3, decide('P6', [p3.findings], twoOwners)]
}

const decide = <T>(
  property: Property,
  items: readonly T[],
  ask: (item: T, effort: Effort) => Finding[]
): Decision => {
  const effort = { visited: 0 }
  const start = performance.now()
  const findings = items.flatMap(item => ask(item, effort))
  return {
    property,
    holds: findings.length === 0,
    checks: items.length,
    visited: effort.visited,
    milliseconds: performance.now() - start,
    findings
  }
}

const gather = (subjects: readonly Subject[], decisions: readonly Decision[]): Proof => {
  const ordered = decisions.toSorted((a, b) => (a.property < b.property ? -1 : 1))
  const findings = ordered.flatMap(decision => decision.findings)
  return {
    sound: findings.length === 0,
    findings,
    verdicts: ordered.map(({ findings: _, ...verdict }) => verdict),
    states: subjects.reduce((sum, { layout }) => sum + layout.size, 0)
  }
}
