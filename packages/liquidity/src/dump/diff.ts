/** Differences between two states, as a node of the chain would hold them, row by row in the order of keys. */
import { compareBytes, equalBytes, QuoinError } from '@quoin/primitives'
import type { KeyValue, StoreReads } from '@quoin/store'
import { layoutOf, liquidityAux, type Profile } from '../profile.ts'
import { StoreRows } from '../rows.ts'
import { type WholeRange, wholeRanges } from './collections.ts'

/** A row that two states have with different values, or one of them alone. */
export interface RowDifference {
  readonly key: Uint8Array
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array | undefined
}

/**
 * Compares two states. Memory does not grow with them.
 *
 * @example
 * import { openStore } from '@quoin/store'
 * const [before, after] = [await openStore('memory:'), await openStore('memory:')]
 * await after.set(Uint8Array.of(7), Uint8Array.of(8, 5))
 * for await (const { key } of stateDifferences(before, after)) key // Uint8Array [ 7 ]
 */
export async function* stateDifferences(
  before: StoreReads,
  after: StoreReads
): AsyncGenerator<RowDifference> {
  const profile = await sharedProfile(before, after)
  for (const range of wholeRanges(layoutOf(profile), false)) {
    const [a, b] = [rowsOf(before, range), rowsOf(after, range)]
    let [left, right] = [await next(a), await next(b)]
    while (left || right) {
      const order = left && right ? compareBytes(left.key, right.key) : left ? -1 : 1
      if (order !== 0 || !equalBytes(left!.value, right!.value))
        yield {
          key: (order <= 0 ? left : right)!.key,
          before: order <= 0 ? left!.value : undefined,
          after: order >= 0 ? right!.value : undefined
        }
      const isLeft = order <= 0
      if (order >= 0) right = await next(b)
      if (isLeft) left = await next(a)
    }
  }
}

/** The profile of both states; an empty store has any. */
const sharedProfile = async (before: StoreReads, after: StoreReads): Promise<Profile> => {
  const { profile } = liquidityAux.collections
  const [a, b] = [await before.use(profile).get(), await after.use(profile).get()]
  if (a && b && a !== b)
    throw new QuoinError('ERR_LIQUIDITY_PROFILE', `the first store has the profile ${a}, the second ${b}`, {
      first: a,
      second: b
    })
  return a ?? b ?? 'chain'
}

async function* rowsOf(reads: StoreReads, { range, owns }: WholeRange): AsyncGenerator<KeyValue, undefined> {
  for await (const page of new StoreRows(reads).pages(range))
    for (const row of page) if (owns(row.key)) yield row
}

const next = async (rows: AsyncGenerator<KeyValue, undefined>): Promise<KeyValue | undefined> =>
  (await rows.next()).value
