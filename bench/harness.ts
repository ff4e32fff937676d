/**
 * What a `*.bench.ts` file is written with. The suite registers its cases and measures nothing itself, so
 * that the runner knows how many cases share the time.
 */

import type { Work } from './measure.ts'
import { peer } from './peer.ts'
import type { Unit } from './unit.ts'

type Options = {
  readonly unit: Unit
  /** Operations that one call performs, 1 unless given. A call of several must return a value that depends on all. */
  readonly ops?: number
}

type Comparison = Options & {
  readonly ours: Work
  readonly peers: Readonly<Record<string, Work>>
}

type Growth = Options & {
  /** The noun that is counted: `'collections'` names a case `prove 200 collections`. */
  readonly of?: string
}

type Tools = {
  /** Measures ours against every peer, all doing the same work. */
  compare(name: string, comparison: Comparison): void
  /** Measures ours at each size. `make` prepares the work of one size outside the measured time. */
  growth(
    name: string,
    sizes: readonly number[],
    make: (size: number) => Work | Promise<Work>,
    options: Growth
  ): void
  peer: typeof peer
  readonly quick: boolean
}

export type Case = {
  readonly name: string
  readonly unit: Unit
  readonly ops: number
  readonly peerNames: readonly string[]
  /** Ours first, then the peers in the order of their names. */
  readonly works: () => Promise<readonly Work[]>
}

export type Suite = { readonly cases: (quick: boolean) => Promise<Case[]> }

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
    cases: async quick => {
      const cases = new Map<string, Case>()
      const add = (
        name: string,
        { unit, ops = 1 }: Options,
        rest: Pick<Case, 'peerNames' | 'works'>
      ): void => {
        if (cases.has(name)) throw new Error(`two cases are named "${name}"; a case name must be unique`)
        cases.set(name, { name, unit, ops, ...rest })
      }
      await define({
        compare: (name, comparison) => {
          const { ours, peers } = comparison
          const peerNames = Object.keys(peers)
          if (peerNames.length === 0)
            throw new Error(`compare "${name}" has no peers; without one use growth`)
          add(name, comparison, { peerNames, works: async () => [ours, ...Object.values(peers)] })
        },
        growth: (name, sizes, make, options) => {
          for (const size of sizes) {
            const sized = [name, size, options.of].filter(part => part !== undefined).join(' ')
            add(sized, options, { peerNames: [], works: async () => [await make(size)] })
          }
        },
        peer,
        quick
      })
      if (cases.size === 0) throw new Error('the suite has no cases; call compare or growth in it')
      return [...cases.values()]
    }
  }
}
