/**
 * Remedies that are proved: each proposal is put into the layout and the collection is proved again, alone and against
 * all others. It works when the finding is gone and no other has come. `repairLayout` goes on until the layout is sound.
 */
import { type ErrorCode, QuoinError } from '@quoin/primitives'
import type { CollectionSource, LayoutComponents, LayoutFile } from '../file/parse.ts'
import { layoutOf } from '../file/parse.ts'
import type { Finding } from '../proof/findings.ts'
import { prove, proveDisjoint } from '../proof/prove.ts'
import { type Proposal, proposalsFor, type Remedy } from './remedies.ts'

export interface ProvedRemedy {
  readonly remedy: Remedy
  readonly collection: string
  readonly change: string
  /** Whether the changed layout is proved to be without the finding, and without a new one. */
  readonly works: boolean
}

export interface Repair {
  readonly sound: boolean
  readonly changes: readonly string[]
  /** The layout with the changes. */
  readonly layout: { readonly name: string; readonly collections: readonly CollectionSource[] }
  /** Findings against which no known remedy works. */
  readonly remaining: readonly Finding[]
}

/** The number of collections and pairs that may still be proved for remedies. */
export interface Budget {
  left: number
}

interface Repairable extends Pick<LayoutFile, 'name' | 'subjects' | 'source'> {
  readonly components?: LayoutComponents
}

/** The limit on the work of one repair. */
const MAX_REPAIR_CHECKS = 500_000

/** The remedies of a finding, each kind once: the first change that works, or else the first. */
export const remediesOf = (
  layout: Repairable,
  finding: Finding,
  findings: readonly Finding[],
  budget: Budget = { left: Number.POSITIVE_INFINITY }
): readonly ProvedRemedy[] => {
  const tried = new Map<Remedy, ProvedRemedy>()
  for (const proposal of proposals(layout, finding)) {
    const known = tried.get(proposal.remedy)
    if (known?.works || budget.left <= 0) continue
    const works = verdict(layout, proposal, finding, findings, budget) !== undefined
    if (!known || works) {
      const { remedy, collection, change } = proposal
      tried.set(remedy, { remedy, collection, change, works })
    }
  }
  return [...tried.values()].sort((a, b) => Number(b.works) - Number(a.works))
}

/** The layout with the first working remedy of each finding, until none is left or none works. */
export const repairLayout = (layout: Repairable, given: readonly Finding[]): Repair => {
  let at = layout
  let findings: readonly Finding[] = given.filter(({ property }) => property !== 'P6')
  const changes: string[] = []
  const hopeless: Finding[] = []
  const budget: Budget = { left: MAX_REPAIR_CHECKS }
  while (budget.left > 0 && findings.length > hopeless.length) {
    const finding = findings.find(each => !hopeless.some(other => keyOf(other) === keyOf(each)))
    if (!finding) break
    const working = proposals(at, finding).flatMap(proposal => {
      const result = verdict(at, proposal, finding, findings, budget)
      return result ? [{ proposal, ...result }] : []
    })
    // Of changes that work, the one that leaves the fewest findings: the first of them.
    const [best] = working.sort((a, b) => a.findings.length - b.findings.length)
    if (!best) {
      hopeless.push(finding)
      continue
    }
    changes.push(`${best.proposal.remedy}: ${best.proposal.change}`)
    at = { ...at, ...best.layout }
    findings = best.findings
  }
  const final = prove(at.subjects, { partial: true })
  return { sound: final.sound, changes, layout: at.source, remaining: final.findings }
}

const proposals = ({ source }: Repairable, finding: Finding): readonly Proposal[] =>
  proposalsFor(finding, new Map(source.collections.map(each => [each.name, each])), source.collections)

/** The findings of the changed layout, or undefined when the change does not help. */
const verdict = (
  { name, subjects, source, components }: Repairable,
  proposal: Proposal,
  finding: Finding,
  before: readonly Finding[],
  budget: Budget
): { layout: Pick<Repairable, 'subjects' | 'source'>; findings: readonly Finding[] } | undefined => {
  const known = keysOf(before)
  const key = keyOf(finding)
  // P6 repeats the shortest finding of P3, of any pair.
  const isKnown = (found: readonly Finding[]): boolean =>
    found.every(each => each.property === 'P6' || (keyOf(each) !== key && known.has(keyOf(each))))
  try {
    const changed = layoutOf({ name, collections: [proposal.source] }, components).subjects[0]!
    const after: Finding[] = []
    // The collections of the finding first: most changes that do not help show it there.
    const others = subjects
      .filter(subject => subject.name !== changed.name)
      .sort(
        (a, b) => Number(finding.collections.includes(b.name)) - Number(finding.collections.includes(a.name))
      )
    for (const prover of [
      () => prove([changed]),
      ...others.map(other => () => proveDisjoint([changed], [other]))
    ]) {
      budget.left--
      const { findings } = prover()
      if (!isKnown(findings)) return undefined
      after.push(...findings.filter(({ property }) => property !== 'P6'))
    }
    return {
      layout: {
        subjects: subjects.map(subject => (subject.name === changed.name ? changed : subject)),
        source: {
          name: source.name,
          collections: source.collections.map(each => (each.name === changed.name ? proposal.source : each))
        }
      },
      findings: [
        ...before.filter(
          ({ collections, property }) => !collections.includes(changed.name) && property !== 'P6'
        ),
        ...after
      ]
    }
  } catch (error) {
    // The proposal is no layout (a literal of 256 bytes, a component twice), or too large to prove: it does not help.
    if (error instanceof QuoinError && NO_LAYOUT.includes(error.code)) return undefined
    throw error
  }
}

const keySets = new WeakMap<readonly Finding[], ReadonlySet<string>>()

const keysOf = (findings: readonly Finding[]): ReadonlySet<string> => {
  const keys = keySets.get(findings) ?? new Set(findings.map(keyOf))
  keySets.set(findings, keys)
  return keys
}

const NO_LAYOUT: readonly ErrorCode[] = [
  'ERR_AUDIT_FORMAT',
  'ERR_KEYSPACE_DECLARATION',
  'ERR_KEYSPACE_TOO_LARGE',
  'ERR_KEY_VALUE'
]

/** Findings about the same thing have one key, whatever their witness. Pairs may come in either order. */
const keyOf = ({ property, collections, component, scanIndex, about }: Finding): string => {
  const shown = property === 'P6' ? 'P3' : property
  return JSON.stringify([shown, [...collections].sort(), component, scanIndex, about])
}
