/** Findings as they are printed: each as it comes, or the first of them as JSON in the end. */
import type { Finding, FindingKind } from '@quoin/chain'
import { paint, print } from '@quoin/primitives/command'

export class Findings {
  readonly #limit: number
  readonly #isPrinted: boolean
  readonly listed: Finding[] = []
  readonly counts = new Map<FindingKind, number>()
  total = 0

  constructor(limit: number, isPrinted: boolean) {
    this.#limit = limit
    this.#isPrinted = isPrinted
  }

  add(finding: Finding): void {
    this.total++
    this.counts.set(finding.kind, (this.counts.get(finding.kind) ?? 0) + 1)
    if (this.total > this.#limit) return
    if (this.#isPrinted) printFinding(finding)
    else this.listed.push(finding)
  }

  /** `proof-root 2, index-missing 1` */
  get summary(): string {
    return [...this.counts].map(([kind, count]) => `${kind} ${count}`).join(', ')
  }
}

export const printFinding = ({ kind, subject, found, expected, advice }: Finding): void => {
  print(`${paint('bold', kind)}  ${subject}`)
  print(`  found     ${found}`)
  print(`  expected  ${expected}`)
  if (advice) print(`  to do     ${advice}`)
}
