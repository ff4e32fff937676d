/**
 * Proves collections that share a store. The proof is complete: each property is decided, and a failure comes with
 * the shortest keys that show it.
 */
import { hasCode } from '@quoin/primitives'
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
  /** Decisions that need more work than the limits allow; only of a proof that may be `partial`. */
  readonly undecided: readonly OpenDecisions[]
  readonly verdicts: readonly Verdict[]
  /** The states of all key automata. */
  readonly states: number
}

/** Decisions that were not made: the layout is not proved sound. */
export interface OpenDecisions {
  readonly property: Property
  /** Their number. */
  readonly decisions: number
  /** The collections of the first of them. */
  readonly collections: readonly string[]
}

export interface ProofOptions {
  /** Goes on where a decision is too large, and lists it, instead of refusing the whole proof. */
  readonly partial?: boolean
  /** The states that the searches of a partial proof may visit together. */
  readonly limit?: number
}

/** For each collection, the order that each part of its key gives. */
export type Orders = ReadonlyMap<Subject, readonly OrderOfPart[]>

/** Decides all seven properties of the collections of a keyspace. */
export const prove = (
  subjects: readonly Subject[],
  { partial = false, limit = PARTIAL_LIMIT }: ProofOptions = {}
): Proof & { readonly orders: Orders } => {
  const scans = subjects.flatMap(subject => subject.scans.map((_, index) => ({ subject, index })))
  const components = subjects.flatMap(subject =>
    subject.layout.parts.flatMap(part =>
      part.kind === 'component' ? [{ subject, component: part.component }] : []
    )
  )
  const orders = new Map<Subject, readonly OrderOfPart[]>()
  const pairs = subjects.flatMap((a, i) => subjects.slice(i + 1).map((b): Pair => [a, b]))
  const decide = decider(partial, limit)
  const proof = gather(subjects, [
    decide('P1', subjects, subject => [subject], twoReadings),
    decide(
      'P2',
      scans,
      ({ subject }) => [subject],
      ({ subject, index }, effort) => strayUnderScan(subject, index, effort)
    ),
    ...disjointness(pairs, decide),
    decide(
      'P4',
      subjects,
      subject => [subject],
      (subject, effort) => {
        const order = ordersOf(subject.layout, effort)
        orders.set(subject, order)
        return wrongOrders(subject, order)
      }
    ),
    decide(
      'P5',
      components,
      ({ subject }) => [subject],
      ({ subject, component }) => notItself(subject, component)
    ),
    decide(
      'P7',
      scans,
      ({ subject }) => [subject],
      ({ subject, index }) => notLeading(subject, index)
    )
  ])
  return { ...proof, orders }
}

/** Proves collections disjoint from neighbours in the same store: P3 and P6. */
export const proveDisjoint = (subjects: readonly Subject[], neighbours: readonly Subject[]): Proof =>
  gather(
    subjects,
    disjointness(
      subjects.flatMap(a => neighbours.map((b): Pair => [a, b])),
      decider(false)
    )
  )

type Pair = readonly [Subject, Subject]
type Decision = Verdict & {
  readonly findings: readonly Finding[]
  readonly undecided: readonly OpenDecisions[]
}

type Decide = <T>(
  property: Property,
  items: readonly T[],
  about: (item: T) => readonly Subject[],
  ask: (item: T, effort: Effort) => Finding[]
) => Decision

const disjointness = (pairs: readonly Pair[], decide: Decide): Decision[] => {
  const p3 = decide(
    'P3',
    pairs,
    pair => pair,
    ([a, b], effort) => overlaps(a, b, effort)
  )
  return [
    p3,
    decide(
      'P6',
      [p3.findings],
      () => [],
      findings => twoOwners(findings)
    )
  ]
}

/** The states that all searches of a partial proof may visit together: some seconds of work. */
const PARTIAL_LIMIT = 8_000_000

/** The findings of one property after which a partial proof decides no more of it: nobody reads them. */
const PARTIAL_FINDINGS = 1000
const MAX_NAMES = 10

/** Decides items one by one. A partial proof has one limit for all, and counts the decisions beyond it. */
const decider = (partial: boolean, limit = PARTIAL_LIMIT): Decide => {
  const shared = partial ? { visited: 0, limit, searchLimit: limit / 10 } : undefined
  return (property, items, about, ask) => {
    const effort: Effort = shared ?? { visited: 0 }
    const before = effort.visited
    const start = performance.now()
    const findings: Finding[] = []
    const open = new Set<string>()
    let decisions = 0
    const leaveOpen = (item: (typeof items)[number]): void => {
      decisions++
      if (open.size < MAX_NAMES) for (const { name } of about(item)) open.add(name)
    }
    for (const item of items) {
      if (partial && findings.length >= PARTIAL_FINDINGS) {
        leaveOpen(item)
        continue
      }
      try {
        findings.push(...ask(item, effort))
      } catch (error) {
        if (!partial || !hasCode(error, 'ERR_KEYSPACE_TOO_LARGE')) throw error
        leaveOpen(item)
      }
    }
    const undecided = decisions > 0 ? [{ property, decisions, collections: [...open] }] : []
    return {
      property,
      holds: findings.length === 0 && undecided.length === 0,
      checks: items.length,
      visited: effort.visited - before,
      milliseconds: performance.now() - start,
      findings,
      undecided
    }
  }
}

const gather = (subjects: readonly Subject[], decisions: readonly Decision[]): Proof => {
  const ordered = decisions.toSorted((a, b) => (a.property < b.property ? -1 : 1))
  const findings = ordered.flatMap(decision => decision.findings)
  const undecided = ordered.flatMap(decision => decision.undecided)
  return {
    sound: findings.length === 0 && undecided.length === 0,
    findings,
    undecided,
    verdicts: ordered.map(({ findings: _, undecided: __, ...verdict }) => verdict),
    states: subjects.reduce((sum, { layout }) => sum + layout.size, 0)
  }
}
