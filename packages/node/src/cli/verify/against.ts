/** `quoin verify --against`: compares the tokens of a store, or of a node, with another node's. */
import type { TokenComparison, TokenStates } from '@quoin/bsv21'
import { QuoinError, reasonOf } from '@quoin/primitives'
import { count, EXIT, paint, plural, print, printJson } from '@quoin/primitives/command'
import { Findings } from './findings.ts'
import { openForLong } from './open.ts'
import { progressOn } from './progress.ts'
import { parseLimit, type VerifyCommand } from './verify.ts'

export interface AgainstCommand extends VerifyCommand {
  readonly against: string
  /** The last token that was compared before. */
  readonly after?: string
}

export const verifyAgainst = async (subject: string, options: AgainstCommand): Promise<number> => {
  const { parseTokenId, RemoteStates } = await import('@quoin/bsv21')
  const { against, json = false, after } = options
  const findings = new Findings(await parseLimit(options.limit), !json)
  const start = after === undefined ? undefined : parseTokenId(after)
  const there = new RemoteStates(against)
  const run = (here: TokenStates): Promise<number> => compare(here, there, { start, json, findings })
  return /^https?:/.test(subject) ? run(new RemoteStates(subject)) : withStates(subject, run)
}

const withStates = async (url: string, run: (states: TokenStates) => Promise<number>): Promise<number> => {
  const { StoredStates, tokenLedger } = await import('@quoin/bsv21')
  const { checkLayouts, readOnlyUrl } = await import('@quoin/store')
  const { OutputStore } = await import('@quoin/txo')
  const { nodeEvents, nodeStore } = await import('../../keyspaces.ts')
  const store = await openForLong(readOnlyUrl(url), () => undefined)
  try {
    await checkLayouts(store, nodeStore().members)
    const outputs = new OutputStore(store, { events: nodeEvents(), ledger: tokenLedger })
    return await run(new StoredStates(outputs, url))
  } finally {
    await store.close()
  }
}

interface ComparisonRun {
  readonly start: TokenComparison['token'] | undefined
  readonly json: boolean
  readonly findings: Findings
}

const compare = async (
  here: TokenStates,
  there: TokenStates,
  { start, json, findings }: ComparisonRun
): Promise<number> => {
  const { compareTokens } = await import('@quoin/bsv21')
  const results = { equal: 0, different: 0, unindexed: 0, pending: 0 }
  const progress = progressOn(process.stderr.isTTY === true)
  let last = start
  let done = 0
  try {
    for await (const { token, result, differences } of compareTokens(here, there, { after: start })) {
      last = token
      results[result]++
      progress.report('comparing tokens', ++done)
      for (const difference of differences) {
        progress.clear()
        findings.add(findingOf(difference, here, there, result))
      }
    }
  } catch (error) {
    throw unfinished(error, last)
  } finally {
    progress.clear()
  }
  const tokens = Object.values(results).reduce((sum, each) => sum + each, 0)
  if (json) {
    printJson({
      here: here.name,
      there: there.name,
      equal: findings.total === 0,
      tokens,
      results,
      findings: findings.listed
    })
  } else print(`${here.name} and ${there.name}: ${count(tokens)} tokens, ${outcomeOf(findings, results)}`)
  return findings.total > 0 ? EXIT.no : EXIT.ok
}

const findingOf = (
  { kind, token, outpoint, here: found, there: expected }: TokenComparison['differences'][number],
  here: TokenStates,
  there: TokenStates,
  result: TokenComparison['result']
) => ({
  kind,
  subject: outpoint === undefined ? token : `${outpoint} of token ${token}`,
  found: `${found} (${here.name})`,
  expected: `${expected} (${there.name})`,
  advice:
    result === 'pending'
      ? 'a node still has work on the token (quoin token): compare again'
      : kind === 'token-sums'
        ? 'one of the stores is damaged: quoin verify finds it'
        : 'give the transaction to the node that lacks it (quoin submit), or add a peer that has it'
})

const outcomeOf = (findings: Findings, { unindexed }: { readonly unindexed: number }): string => {
  const skipped = unindexed > 0 ? `, ${count(unindexed)} of them indexed by one node alone` : ''
  return findings.total > 0
    ? `${paint('red', plural(findings.total, 'difference'))} (${findings.summary})${skipped}`
    : paint('green', `no differences${skipped}`)
}

/** A comparison that ends early goes on after the last token. */
const unfinished = (error: unknown, last: string | undefined): unknown => {
  if (!(error instanceof QuoinError) || last === undefined) return error
  return new QuoinError(error.code, `${reasonOf(error)}; go on with --after ${last}`, {
    ...error.details,
    after: last,
    cause: error
  })
}
