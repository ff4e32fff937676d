/** What the runner is given to run: the kinds of cases, and what comes out of them. */

import type { Work } from './measure.ts'
import type { TimeUnit, Unit } from './unit.ts'

/** Work that can be repeated as often as the time permits. */
export type Repeated = {
  readonly kind: 'repeated'
  readonly name: string
  readonly unit: TimeUnit
  readonly ops: number
  readonly seconds?: number | undefined
  readonly peerNames: readonly string[]
  /** Ours first, then the peers in the order of their names. */
  readonly works: () => Promise<readonly Work[]>
}

/** Work that is done once, in so many slices. */
export type Race = {
  readonly kind: 'race'
  readonly name: string
  readonly unit: TimeUnit
  /** Of one slice. */
  readonly ops: number
  readonly slices: number
  readonly peerNames: readonly string[]
  readonly works: () => Promise<readonly Work[]>
  readonly after: () => Promise<unknown>
}

/** Numbers that are not times of works. */
export type Figure = {
  readonly kind: 'figure'
  readonly name: string
  readonly unit: Unit
  readonly peerNames: readonly string[]
  readonly values: () => Promise<readonly number[]>
}

/** A table of its own. */
type SheetCase = {
  readonly kind: 'sheet'
  readonly name: string
  readonly make: () => Promise<Sheet>
}

export type Case = Repeated | Race | Figure | SheetCase

export type Sheet = {
  readonly columns: readonly string[]
  /** A cell for each column; `null` where there is nothing to say. */
  readonly rows: readonly (readonly (string | number | null)[])[]
}

/** Ours against one peer; a case without peers has one row, where all that concerns the peer is `null`. */
export type Row = {
  readonly case: string
  readonly ours: number
  readonly peer: number | null
  readonly peerName: string | null
  readonly ratio: number | null
  readonly unit: Unit
  /** Of the noisier side, in percent. */
  readonly spread: number | null
}
