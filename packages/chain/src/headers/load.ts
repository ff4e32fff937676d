/**
 * Large numbers of headers that continue the chain of most work, part by part: one part is committed while the next is
 * checked. Other parts go through `add`.
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
  /** Branch that ends at the stored tip. */
  line(): Promise<Branch>
  /** Adds a part that is not a continuation. */
  add(part: readonly Header[]): Promise<HeaderChange>
  /** Called when a continuation is committed. */
  committed(change: HeaderChange): void
}

/** Part being committed while the next is checked. */
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

  /** Awaits the commit in progress; false if the chain has changed meanwhile. */
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
        // Check again against the stored chain; an invalid header throws here.
        onPart(await add(part), part.length)
        branch = await line()
        continue
      }
      const best = fresh.at(-1)!
      const done = commitHeaders(store, { tip, fresh, activated: fresh, best })
      // Awaited later; until then a rejection must not be reported as unhandled.
      done.catch(() => {})
      pending = { part, change: { tip: best, added: fresh, reorg: undefined }, done }
      branch = branch.last(CONTEXT)
    }
  } finally {
    // Also when reading the next part failed.
    await settle()
  }
}

/** More headers than any rule reads. */
const CONTEXT = 2100

const isLate = (error: unknown): boolean => hasCode(error, 'ERR_STORE_PRECONDITION')

/** Headers of a part with heights and work, when it continues the branch, which grows by them. */
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
