/** `quoin verify`: compares a store with the index that its transactions give. */

import type { Finding } from '@quoin/chain'
import { hasCode, QuoinError } from '@quoin/primitives'
import { count, EXIT, paint, plural, print, printJson } from '@quoin/primitives/command'
import type { Store, StoreReads } from '@quoin/store'
import { type Checks, checkFacts, checkIndex } from './check.ts'
import { Findings } from './findings.ts'
import { openForLong } from './open.ts'
import { progressOn } from './progress.ts'
import { inspectRows, rowFinding } from './rows.ts'
import { withTemporaryStore } from './temporary.ts'

export interface VerifyCommand {
  readonly limit: string
  readonly temp?: string
  readonly json?: boolean
}

export const verify = async (url: string, { limit, temp, json = false }: VerifyCommand): Promise<number> => {
  const findings = new Findings(await parseLimit(limit), !json)
  const progress = progressOn(process.stderr.isTTY === true)
  const report = ({ finding }: { readonly finding: Finding }): void => {
    progress.clear()
    findings.add(finding)
  }
  try {
    const { rows, faults } = await inspectRows(url, progress)
    for (const row of rows) report({ finding: rowFinding(row, false) })
    for (const finding of faults) report({ finding })
    // Reading on could end the process.
    const transactions =
      faults.length > 0 ? undefined : await checkContents(url, temp, rows.length > 0, { progress, report })
    progress.clear()
    if (json) printJson(asJson(url, transactions, findings))
    else print(`${url}: ${transactionsOf(transactions)}, ${outcomeOf(findings)}`)
    return findings.total > 0 ? EXIT.no : EXIT.ok
  } finally {
    progress.clear()
  }
}

/** Answers how many transactions there are; undefined when a damaged row ended the check. */
const checkContents = async (
  url: string,
  temp: string | undefined,
  isDamaged: boolean,
  checks: Checks
): Promise<number | undefined> => {
  const { checkLayouts, readOnlyUrl } = await import('@quoin/store')
  const { nodeStore } = await import('../../keyspaces.ts')
  const store = await openForLong(readOnlyUrl(url), () => checks.progress.clear())
  try {
    await checkLayouts(store, nodeStore().members)
    return await withTemporaryStore(temp, rebuilt =>
      ofOneState(url, store, async reads => {
        await checkFacts(reads, checks)
        return checkIndex(reads, rebuilt, checks)
      })
    )
  } catch (error) {
    if (isDamaged && hasCode(error, 'ERR_STORE_CORRUPT')) return undefined
    throw error
  } finally {
    await store.close()
  }
}

const transactionsOf = (transactions: number | undefined): string =>
  transactions === undefined
    ? 'not checked to the end, since rows are damaged: run quoin repair, and verify again'
    : `${count(transactions)} transactions`

/**
 * A file of this machine is read as it is at one moment. Redis would have to watch every key that is read, so a server is
 * read as it is when each page comes.
 */
export const ofOneState = <T>(
  url: string,
  store: Store,
  read: (reads: StoreReads) => Promise<T>
): Promise<T> => (/^rediss?:/.test(url) ? read(store) : store.snapshot(read))

export const parseLimit = (limit: string): number => {
  if (/^[1-9][0-9]{0,8}$/.test(limit)) return Number(limit)
  throw new QuoinError('ERR_USAGE', `--limit is a whole number from 1, not ${limit}`)
}

const outcomeOf = (findings: Findings): string =>
  findings.total > 0
    ? `${paint('red', plural(findings.total, 'finding'))} (${findings.summary})`
    : paint('green', 'everything is what follows from the transactions')

const asJson = (url: string, transactions: number | undefined, findings: Findings): unknown => ({
  store: url,
  valid: findings.total === 0,
  transactions: transactions ?? null,
  counts: Object.fromEntries(findings.counts),
  findings: findings.listed
})
