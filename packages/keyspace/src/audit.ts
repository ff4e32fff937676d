/** Audits a layout that somebody else declared: a verdict on each collection and on the pairs. */
import type { LayoutComponents, LayoutFile, LayoutSource } from './file/parse.ts'
import { keyPattern, walkOrder } from './notation.ts'
import type { Finding } from './proof/findings.ts'
import { type OpenDecisions, prove, type Verdict } from './proof/prove.ts'
import { realistic } from './proof/realistic.ts'
import { remediesOf } from './repair/repair.ts'

export interface AuditReport {
  readonly name: string
  readonly sound: boolean
  /** With witnesses of recognisable values, and remedies. */
  readonly findings: readonly Finding[]
  /** Decisions that are too large to be made. The layout is not proved sound then, and its findings are partial. */
  readonly undecided: readonly OpenDecisions[]
  readonly collections: readonly {
    readonly name: string
    /** The key as a pattern. */
    readonly key: string
    /** Whether the collection is sound by itself. */
    readonly sound: boolean
    /** The order of its keys, component by component. */
    readonly order: string
  }[]
  readonly pairs: { readonly checked: number; readonly overlapping: readonly (readonly string[])[] }
  readonly verdicts: readonly Verdict[]
}

/** The limits on findings whose witnesses are searched again, and whose remedies are proved: each is many proofs. */
const MAX_REALISTIC = 100
const MAX_REMEDIED = 40
const MAX_REMEDY_CHECKS = 10_000

export interface AuditOptions {
  /** The states that the proof may visit; decisions beyond are left open. */
  readonly limit?: number
  /** The components of the host that the layout uses. */
  readonly components?: LayoutComponents
}

/** Proves a layout of `parseLayout`. */
export const auditLayout = (
  layout: Pick<LayoutFile, 'name' | 'subjects'> & { readonly source?: LayoutSource },
  { components, limit }: AuditOptions = {}
): AuditReport => {
  const { name, subjects, source } = layout
  const {
    sound,
    findings: found,
    undecided,
    verdicts,
    orders
  } = prove(subjects, {
    partial: true,
    ...(limit !== undefined && { limit })
  })
  const budget = { left: MAX_REMEDY_CHECKS }
  const findings = found.map((finding, i) => {
    const shown = i < MAX_REALISTIC ? realistic(subjects, finding) : finding
    if (!source || i >= MAX_REMEDIED) return shown
    const repairable = { name, subjects, source, ...(components && { components }) }
    if (budget.left <= 0) return shown
    return { ...shown, remedies: remediesOf(repairable, finding, found, budget) }
  })
  const alone = new Set(findings.flatMap(({ collections }) => (collections.length === 1 ? collections : [])))
  const together = new Set(
    findings.flatMap(({ collections }) => (collections.length === 2 ? [collections.join('\n')] : []))
  )
  return {
    name,
    sound,
    findings,
    undecided,
    collections: subjects.map(subject => ({
      name: subject.name,
      key: keyPattern(subject.layout.parts),
      sound: !alone.has(subject.name),
      order: orders.has(subject) ? walkOrder(subject.layout.parts, orders.get(subject)!, 0) : ''
    })),
    pairs: {
      checked: (subjects.length * (subjects.length - 1)) / 2,
      overlapping: [...together].map(pair => pair.split('\n'))
    },
    verdicts
  }
}
