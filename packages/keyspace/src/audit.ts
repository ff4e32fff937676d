/** Audits a layout that somebody else declared: a verdict on each collection and on the pairs. */
import type { LayoutFile } from './file/parse.ts'
import { keyPattern, walkOrder } from './notation.ts'
import type { Finding } from './proof/findings.ts'
import { prove, type Verdict } from './proof/prove.ts'

export interface AuditReport {
  readonly name: string
  readonly sound: boolean
  readonly findings: readonly Finding[]
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

/** Proves a layout of `parseLayout`. */
export const auditLayout = ({ name, subjects }: Pick<LayoutFile, 'name' | 'subjects'>): AuditReport => {
  const { sound, findings, verdicts, orders } = prove(subjects)
  const alone = new Set(findings.flatMap(({ collections }) => (collections.length === 1 ? collections : [])))
  const together = new Set(
    findings.flatMap(({ collections }) => (collections.length === 2 ? [collections.join('\n')] : []))
  )
  return {
    name,
    sound,
    findings,
    collections: subjects.map(subject => ({
      name: subject.name,
      key: keyPattern(subject.layout.parts),
      sound: !alone.has(subject.name),
      order: walkOrder(subject.layout.parts, orders.get(subject)!, 0)
    })),
    pairs: {
      checked: (subjects.length * (subjects.length - 1)) / 2,
      overlapping: [...together].map(pair => pair.split('\n'))
    },
    verdicts
  }
}
