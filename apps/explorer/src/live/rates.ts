/** Submissions and admissions of the last minutes, from the node's totals. */
export interface Totals {
  readonly submits: number
  readonly admitted: number
}

/** Columns of a chart: unix seconds, and the increase since the point before. */
export type Points = readonly [number[], number[], number[]]

/** Ten minutes of a point every two seconds. */
const KEPT = 300

export class Rates {
  #last: Totals | undefined
  #points: Points = [[], [], []]

  get points(): Points {
    return this.#points
  }

  add(at: number, totals: Totals): void {
    const before = this.#last
    this.#last = totals
    if (!before) return
    // A restarted process counts from zero.
    const grown = (now: number, then: number): number => (now >= then ? now - then : now)
    const [times, submits, admitted] = this.#points
    this.#points = [
      [...times, at].slice(-KEPT),
      [...submits, grown(totals.submits, before.submits)].slice(-KEPT),
      [...admitted, grown(totals.admitted, before.admitted)].slice(-KEPT)
    ]
  }
}
