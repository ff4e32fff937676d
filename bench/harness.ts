/**
 * The interface of `*.bench.ts` files. A suite registers its cases and measures nothing itself, so that the runner
 * can divide the time among the cases.
 */

import type { Case, Metered, Sheet } from './case.ts'
import type { Work } from './measure.ts'
import { peer } from './peer.ts'
import type { TimeUnit, Unit } from './unit.ts'

/** The amount of measuring: within a minute, within a few, or everything, however long it takes. */
export type Scale = 'quick' | 'normal' | 'full'

type Options = {
  readonly unit: TimeUnit
  /** Operations of one call, 1 by default. A call of several must return a value that depends on all. */
  readonly ops?: number
}

type RepeatOptions = Options & {
  /** The case's own limit in seconds, when it is below the runner's. */
  readonly seconds?: number
}

type Comparison = RepeatOptions & {
  readonly ours: Work
  readonly peers: Readonly<Record<string, Work>>
  /** Prepares the works, outside the measured time. Cases that share the preparation keep it themselves. */
  readonly prepare?: () => Promise<unknown>
}

type Growth = RepeatOptions & {
  /** The noun of the sizes: `'collections'` names a case `prove 200 collections`. */
  readonly of?: string
}

type Make = () => Work | Promise<Work>

type Race = Options & {
  /** The exact number of calls of each side; each call continues the work of the one before. */
  readonly slices: number
  readonly ours: Make
  readonly peers: Readonly<Record<string, Make>>
  /** Releases the sides' resources when the race is over or has failed. */
  readonly after?: () => Promise<unknown>
}

type Figure = {
  readonly unit: Unit
  readonly ours: () => number | Promise<number>
  readonly peers: Readonly<Record<string, () => number | Promise<number>>>
}

type Cost = {
  /** Our work; it is made before the measuring. */
  readonly ours: () => Metered | Promise<Metered>
  /** The unit, such as one verification of a signature. */
  readonly base: Metered
  /** The bar, in multiples of the unit. */
  readonly most?: number
  /** Five or more, of which the median counts. */
  readonly rounds: number
}

type Tools = {
  /** Measures our work against every peer's, all doing the same. */
  compare(name: string, comparison: Comparison): void
  /** Measures our work at each size. `make` prepares one size outside the measured time. */
  growth(
    name: string,
    sizes: readonly number[],
    make: (size: number) => Work | Promise<Work>,
    options: Growth
  ): void
  /**
   * Measures long work that changes its own input, and so cannot be repeated: all sides run their slices in turn, and
   * the result is the time of all slices together. The makers run before, outside the measured time.
   */
  race(name: string, race: Race): void
  /** Compares numbers that are read once, ours first, such as records of an earlier case. */
  figure(name: string, figure: Figure): void
  /** States the processor time of our work as a multiple of another's, beside the bar. */
  cost(name: string, cost: Cost): void
  /** Adds a table, printed after the rows of all cases. */
  sheet(name: string, make: () => Promise<Sheet>): void
  /** Prints a note to the reader above the results. */
  note(text: string): void
  /** Reports the progress of a case. */
  progress(text: string): void
  /** Runs at the end, however the benchmark ends; last registered, first run. */
  after(close: () => unknown): void
  peer: typeof peer
  readonly scale: Scale
  readonly quick: boolean
}

type Plan = {
  readonly cases: readonly Case[]
  readonly notes: readonly string[]
  readonly close: () => Promise<void>
}

export type Suite = {
  readonly plan: (scale: Scale, progress?: (text: string) => void) => Promise<Plan>
}

/**
 * Describes the cases of one benchmark file.
 *
 * @example
 * export default suite(async ({ compare, growth, peer }) => {
 *   const theirs = await peer<{ toBufferKey(key: unknown): Uint8Array }>('ordered-binary')
 *   compare('encode a string', {
 *     unit: 'ns/op',
 *     ours: () => encode('abc'),
 *     peers: { 'ordered-binary': () => theirs.toBufferKey('abc') }
 *   })
 *   growth('prove', [50, 100, 200], n => () => prove(layoutOf(n)), { unit: 'ms/op', of: 'collections' })
 * })
 */
export function suite(define: (tools: Tools) => void | Promise<void>): Suite {
  return {
    plan: async (scale, progress = () => {}) => {
      const cases = new Map<string, Case>()
      const notes: string[] = []
      const closers: (() => unknown)[] = []
      const close = async (): Promise<void> => {
        for (let next = closers.pop(); next; next = closers.pop()) await next()
      }
      const add = (each: Case): void => {
        if (cases.has(each.name)) {
          throw new Error(`two cases are named "${each.name}"; a case name must be unique`)
        }
        cases.set(each.name, each)
      }
      try {
        await define({
          compare: (name, { unit, ops = 1, seconds, ours, peers, prepare }) => {
            const peerNames = namesOf('compare', name, peers)
            const works = async (): Promise<Work[]> => {
              await prepare?.()
              return [ours, ...Object.values(peers)]
            }
            add({ kind: 'repeated', name, unit, ops, seconds, peerNames, works })
          },
          growth: (name, sizes, make, { unit, ops = 1, seconds, of }) => {
            for (const size of sizes) {
              const sized = [name, size, of].filter(part => part !== undefined).join(' ')
              const works = async (): Promise<Work[]> => [await make(size)]
              add({ kind: 'repeated', name: sized, unit, ops, seconds, peerNames: [], works })
            }
          },
          race: (name, { unit, ops = 1, slices, ours, peers, after = async () => {} }) => {
            const works = async (): Promise<Work[]> => {
              const made: Work[] = []
              for (const make of [ours, ...Object.values(peers)]) made.push(await make())
              return made
            }
            const peerNames = namesOf('race', name, peers)
            add({ kind: 'race', name, unit, ops, slices, peerNames, works, after })
          },
          figure: (name, { unit, ours, peers }) => {
            const values = async (): Promise<number[]> => {
              const found: number[] = []
              for (const value of [ours, ...Object.values(peers)]) found.push(await value())
              return found
            }
            add({ kind: 'figure', name, unit, peerNames: Object.keys(peers), values })
          },
          cost: (name, { ours, base, most, rounds }) => {
            const peerNames = most === undefined ? [] : ['at most']
            const unit = 'verifications'
            add({ kind: 'cost', name, unit, rounds, peerNames, most, base, ours: async () => ours() })
          },
          sheet: (name, make) => add({ kind: 'sheet', name, make }),
          note: text => notes.push(text),
          progress,
          after: closer => closers.push(closer),
          peer,
          scale,
          quick: scale === 'quick'
        })
        if (cases.size === 0) throw new Error('the suite has no cases; call compare or growth in it')
      } catch (error) {
        await close()
        throw error
      }
      return { cases: [...cases.values()], notes, close }
    }
  }
}

function namesOf(kind: string, name: string, peers: Readonly<Record<string, unknown>>): string[] {
  const names = Object.keys(peers)
  if (names.length === 0) throw new Error(`${kind} "${name}" has no peers; without one use growth`)
  return names
}
