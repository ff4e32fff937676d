/** Cases of benchmarks by kind, and their results. */

import type { Clock, Work } from './measure.ts'
import type { TimeUnit, Unit } from './unit.ts'

/** Work that can be repeated as often as the time permits. */
export type RepeatedCase = {
  readonly kind: 'repeated'
  readonly name: string
  readonly unit: TimeUnit
  readonly ops: number
  readonly seconds?: number | undefined
  readonly peerNames: readonly string[]
  /** Our work first, then the peers' in the order of their names. */
  readonly works: () => Promise<readonly Work[]>
}

/** Work that is done once, in a number of slices. */
export type Race = {
  readonly kind: 'race'
  readonly name: string
  readonly unit: TimeUnit
  /** Operations of one slice. */
  readonly ops: number
  readonly slices: number
  readonly peerNames: readonly string[]
  readonly works: () => Promise<readonly Work[]>
  readonly after: () => Promise<unknown>
}

/** Numbers other than times. */
export type Figure = {
  readonly kind: 'figure'
  readonly name: string
  readonly unit: Unit
  readonly peerNames: readonly string[]
  readonly values: () => Promise<readonly number[]>
}

/** Operations whose processor time is counted by a meter. */
export type Metered = {
  readonly work: Work
  /** Operations of one call. */
  readonly ops: number
  /** Milliseconds of processor time; those of this process unless given. */
  readonly meter?: Clock | undefined
}

/** Processor time in multiples of another work's, which is done in turn. */
export type Cost = {
  readonly kind: 'cost'
  readonly name: string
  readonly unit: Unit
  readonly rounds: number
  readonly peerNames: readonly string[]
  /** The bar, in multiples; undefined for none. */
  readonly most: number | undefined
  readonly base: Metered
  readonly ours: () => Promise<Metered>
}

/** A table of its own. */
type SheetCase = {
  readonly kind: 'sheet'
  readonly name: string
  readonly make: () => Promise<Sheet>
}

export type Case = RepeatedCase | Race | Figure | Cost | SheetCase

export type Sheet = {
  readonly columns: readonly string[]
  /** A cell for each column; `null` for an empty one. */
  readonly rows: readonly (readonly (string | number | null)[])[]
}

/** Our side against one peer. A case without peers has one row, with `null` in the peer's columns. */
export type Row = {
  readonly case: string
  readonly ours: number
  readonly peer: number | null
  readonly peerName: string | null
  readonly ratio: number | null
  readonly unit: Unit
  /** The spread of the noisier side, in percent. */
  readonly spread: number | null
}
