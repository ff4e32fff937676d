/** `quoin verify`: whether the index of a store is what follows from its transactions. */

import type { Command } from 'commander'
import { type AnyKeyspace, shortHex, toHex } from '../keyspace/index.ts'
import type { Difference, Verdict } from '../txo/index.ts'
import { EXIT, finish } from './exit.ts'
import { existing } from './store-url.ts'
import { count, paint, plural, print, printJson } from './terminal.ts'

interface Options {
  readonly store: string
  readonly limit: string
  readonly json?: boolean
}

export const addVerifyCommand = (program: Command): void => {
  program
    .command('verify')
    .description('rebuild the index of a store in memory from its transactions, and report every difference')
    .requiredOption('--store <url>', 'the store, for example lmdb:./data')
    .option('--limit <n>', 'differences to report at most', '1000')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  quoin verify --store lmdb:./data
  quoin verify --store redis://localhost:6379 --json

One state of the store is read, beside whatever writes to it, and nothing is changed. It takes memory for the whole
index. Exits 1 when something differs.`
    )
    .action((options: Options) => finish(options.json ?? false, () => verify(options)))
}

const verify = async ({ store: url, limit, json = false }: Options): Promise<number> => {
  const { openStore, QuoinError } = await import('../store/index.ts')
  const { verifyIndex } = await import('../txo/index.ts')
  const { nodeEvents, storeKeyspaces } = await import('../keyspaces.ts')
  const { tokenLedger } = await import('../bsv21/index.ts')
  if (!/^[1-9][0-9]{0,8}$/.test(limit)) {
    throw new QuoinError('ERR_USAGE', `--limit is a whole number from 1, not ${limit}`)
  }
  const store = await openStore(existing(url), { create: false })
  const progress = process.stderr.isTTY && !json
  try {
    const verdict = await verifyIndex(store, {
      events: nodeEvents(),
      ledger: tokenLedger,
      limit: Number(limit),
      onProgress: (done, total) => {
        if (progress) process.stderr.write(`\r\u001b[K${count(done)} of ${count(total)} transactions`)
      }
    })
    if (progress) process.stderr.write('\r\u001b[K')
    if (json) printJson(asJson(url, verdict, storeKeyspaces))
    else report(url, verdict, storeKeyspaces)
    return verdict.differences.length > 0 ? EXIT.no : EXIT.ok
  } finally {
    await store.close()
  }
}

const report = (
  url: string,
  { transactions, differences }: Verdict,
  spaces: readonly AnyKeyspace[]
): void => {
  for (const difference of differences) {
    const { key, part, found = 'nothing', expected = 'nothing' } = difference
    print(
      `${paint('bold', nameOf(difference, spaces))}  ${shortHex(key)}${part.length > 0 ? ` ${shortHex(part)}` : ''}`
    )
    print(`  found     ${found}`)
    print(`  expected  ${expected}`)
  }
  const outcome =
    differences.length > 0
      ? paint('red', plural(differences.length, 'difference'))
      : paint('green', 'everything is what follows from the transactions')
  print(`${url}: ${count(transactions)} transactions, ${outcome}`)
}

const asJson = (
  url: string,
  { transactions, differences }: Verdict,
  spaces: readonly AnyKeyspace[]
): unknown => ({
  store: url,
  valid: differences.length === 0,
  transactions,
  differences: differences.map(difference => ({
    collection: nameOf(difference, spaces),
    key: toHex(difference.key),
    part: toHex(difference.part),
    found: difference.found ?? null,
    expected: difference.expected ?? null
  }))
})

/** The collection that a key belongs to. */
const nameOf = ({ key }: Difference, spaces: readonly AnyKeyspace[]): string => {
  const [explanation] = spaces.map(space => space.explain(key)).filter(each => each.found)
  return explanation?.found ? `${explanation.keyspace}.${explanation.collection}` : 'unknown'
}
