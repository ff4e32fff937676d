/**
 * Many headers that continue the chain of most work, part after part: while one part is committed the next one is
 * checked. What is no plain continuation is added like any other.
 */

import { equalBytes, hasCode } from '@quoin/primitives'
import type { Store } from '@quoin/store'
import type { Branch } from './branch.ts'
import { commitHeaders } from './commit.ts'
import type { ChainHeader, Header } from './header.ts'
import type { HeaderChange } from './header-store.ts'
import type { NetworkRules } from './networks.ts'
import { checkHeader } from './rules.ts'

export interface HeaderLoad {
  readonly store: Store
  readonly rules: NetworkRules
  now(): number
  /** The line that ends at the tip, as the store has it now. */
  line(): Promise<Branch>
  /** Adds what is no continuation. */
  add(part: readonly Header[]): Promise<HeaderChange>
  /** Called when a continuation is committed. */
  committed(change: HeaderChange): void
}

/** What is being committed while the next part is checked. */
interface PendingCommit {
  readonly part: readonly Header[]
  readonly change: HeaderChange
  readonly done: Promise<void>
}

export const loadHeaders = async (
  { store, rules, now, line, add, committed }: HeaderLoad,
  parts: AsyncIterable<readonly Header[]>,
  onPart: (change: HeaderChange, part: number) => void
): Promise<void> => {
  let branch = await line()
  let pending: PendingCommit | undefined

  /** Waits for what is being committed; answers false if the chain has moved meanwhile. */
  const settle = async (): Promise<boolean> => {
    if (!pending) return true
    const { part, change, done } = pending
    pending = undefined
    try {
      await done
      committed(change)
      onPart(change, part.length)
      return true
    } catch (error) {
      if (!isLate(error)) throw error
      onPart(await add(part), part.length)
      return false
    }
  }

  try {
    for await (const part of parts) {
      if (part.length === 0) continue
      const { tip } = branch
      const fresh = continued(rules, branch, part, now())
      if (!(await settle()) || fresh instanceof Error) {
        // Checked again against what the store has; if it was wrong that throws.
        onPart(await add(part), part.length)
        branch = await line()
        continue
      }
      const best = fresh.at(-1)!
      const done = commitHeaders(store, { tip, fresh, activated: fresh, best })
      // It is awaited later; until then its failure is nobody's.
      done.catch(() => {})
      pending = { part, change: { tip: best, added: fresh, reorg: undefined }, done }
      branch = branch.last(CONTEXT)
    }
  } finally {
    // Also when there is no next part because it could not be read.
    await settle()
  }
}

/** More than any rule looks back. */
const CONTEXT = 2100

const isLate = (error: unknown): boolean => hasCode(error, 'ERR_STORE_PRECONDITION')

/** The headers of a part at their places, when it continues the branch, which grows by them. */
const continued = (
  rules: NetworkRules,
  branch: Branch,
  part: readonly Header[],
  now: number
): ChainHeader[] | Error => {
  if (!equalBytes(part[0]!.previous, branch.tip.header.hash)) return new Error('no continuation')
  try {
    return part.map(header => {
      checkHeader(rules, branch, header, now)
      return branch.push(header)
    })
  } catch (error) {
    return error as Error
  }
}
