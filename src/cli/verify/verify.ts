/** `quoin verify`: whether a store is what follows from its transactions. */
import type { Store, StoreReads } from '../../store/index.ts'
import { EXIT } from '../exit.ts'
import { existing } from '../store-url.ts'
import { count, paint, plural, print, printJson } from '../terminal.ts'
import { checkFacts, checkIndex } from './check.ts'
import { Findings } from './findings.ts'
import { progressOn } from './progress.ts'
import { withTemporaryStore } from './temporary.ts'

export interface VerifyCommand {
  readonly limit: string
  readonly temp?: string
  readonly json?: boolean
}

export const verify = async (url: string, { limit, temp, json = false }: VerifyCommand): Promise<number> => {
  const { checkLayouts, openStore } = await import('../../store/index.ts')
  const { nodeStore } = await import('../../keyspaces.ts')
  const findings = new Findings(await parseLimit(limit), !json)
  const progress = progressOn(process.stderr.isTTY === true)
  const store = await openStore(existing(url), { create: false })
  try {
    await checkLayouts(store, nodeStore().members)
    const checks = {
      progress,
      report: ({ finding }: { finding: Parameters<Findings['add']>[0] }) => {
        progress.clear()
        findings.add(finding)
      }
    }
    const transactions = await withTemporaryStore(temp, rebuilt =>
      ofOneState(url, store, async reads => {
        await checkFacts(reads, checks)
        return checkIndex(reads, rebuilt, checks)
      })
    )
    progress.clear()
    if (json) printJson(asJson(url, transactions, findings))
    else print(`${url}: ${count(transactions)} transactions, ${outcomeOf(findings)}`)
    return findings.total > 0 ? EXIT.no : EXIT.ok
  } finally {
    progress.clear()
    await store.close()
  }
}

/**
 * A file of this machine is read as it is at one moment. Redis would have to watch every key that is read, so a server is
 * read as it is when each page comes.
 */
export const ofOneState = <T>(
  url: string,
  store: Store,
  read: (reads: StoreReads) => Promise<T>
): Promise<T> => (/^rediss?:/.test(url) ? read(store) : store.snapshot(read))

export const parseLimit = async (limit: string): Promise<number> => {
  const { QuoinError } = await import('../../store/index.ts')
  if (/^[1-9][0-9]{0,8}$/.test(limit)) return Number(limit)
  throw new QuoinError('ERR_USAGE', `--limit is a whole number from 1, not ${limit}`)
}

const outcomeOf = (findings: Findings): string =>
  findings.total > 0
    ? `${paint('red', plural(findings.total, 'finding'))} (${findings.summary})`
    : paint('green', 'everything is what follows from the transactions')

const asJson = (url: string, transactions: number, findings: Findings): unknown => ({
  store: url,
  valid: findings.total === 0,
  transactions,
  counts: Object.fromEntries(findings.counts),
  findings: findings.listed
})
