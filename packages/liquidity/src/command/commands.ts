/** `quoin liquidity …`: the arguments, options and help of each command. */

import { finish } from '@quoin/primitives/command'
import type { Command } from 'commander'
import { type DepthOptions, depth } from './depth.ts'
import { type DiffOptions, diff } from './diff.ts'
import { type ExplainOptions, explain } from './explain.ts'
import { pools } from './pools.ts'
import { type PositionsOptions, positions } from './positions.ts'
import { type QuoteOptions, quote } from './quote.ts'
import { type TicksOptions, ticks } from './ticks.ts'
import { type ExportOptions, exportState, type ImportOptions, importState } from './transfer.ts'
import { verify } from './verify.ts'

interface ListOptions {
  readonly store: string
  readonly json?: boolean
}

const STORE = ['--store <url>', 'the store, for example lmdb:./data'] as const

export const addLiquidityCommands = (program: Command): void => {
  const group = program
    .command('liquidity')
    .description('concentrated liquidity: import a state, look into it, quote swaps')
    .addHelpText(
      'after',
      `
Examples:
  quoin liquidity import genesis.json --store lmdb:./pools    a state export of a chain
  quoin liquidity pools --store lmdb:./pools                  what is there?
  quoin liquidity depth 1 --store lmdb:./pools --svg 1.svg    how far does the price go for how much?
  quoin liquidity quote 1 1000000uosmo --store lmdb:./pools   what would I get?
  quoin liquidity explain 0331                                say what a raw key of a node is
  quoin liquidity diff lmdb:./monday lmdb:./tuesday           what has changed between two exports?`
    )

  group
    .command('import')
    .description('fill an empty store from a state export, or from raw keys and values of a node')
    .argument('<file>', 'genesis.json, pairs.ndjson, either with .gz; - is standard input')
    .requiredOption(...STORE)
    .option('--profile <name>', 'the layout of keys: chain, seed', 'chain')
    .option('--format <name>', 'genesis or raw; by the content unless given')
    .option('--encoding <name>', 'the encoding of raw pairs: hex, base64; by the first pair unless given')
    .option('--progress', 'print progress also when standard error is not a terminal')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  quoin liquidity import genesis.json.gz --store lmdb:./pools
  quoin liquidity import pairs.ndjson --store level:./pools
  curl -s "$NODE/abci_query?path=\\"/store/concentratedliquidity/subspace\\"&data=0x01" |
    quoin liquidity import - --store lmdb:./pools

Raw lines are {"key": …, "value": …}, or answers of a node to abci_query for a subspace of its store. Indexes and
reserves are derived from the positions; indexes of the file that differ are reported. An import that fails leaves the
store empty; after one whose process was killed, import again.`
    )
    .action((file: string, options: ImportOptions) =>
      finish(options.json ?? false, () => importState(file, options))
    )

  group
    .command('export')
    .description('print the state as a state export, or as raw keys and values')
    .requiredOption(...STORE)
    .option('--format <name>', 'genesis or raw', 'genesis')
    .option('--schema <name>', 'of a state export: today, 2023', 'today')
    .option('--encoding <name>', 'the encoding of raw pairs: hex, base64', 'hex')
    .addHelpText('after', '\nExample:\n  quoin liquidity export --store lmdb:./pools > genesis.json')
    .action((options: ExportOptions) => finish(false, () => exportState(options)))

  group
    .command('pools')
    .description('list the pools')
    .requiredOption(...STORE)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  quoin liquidity pools --store lmdb:./pools')
    .action(({ store, json = false }: ListOptions) => finish(json, () => pools(store, json)))

  group
    .command('ticks')
    .description('list the ticks of a pool, from most negative to most positive')
    .argument('<pool>', 'the number of the pool')
    .requiredOption(...STORE)
    .option('--from <tick>', 'begin at this tick')
    .option('--exclusive', 'leave out the tick to begin at')
    .option('--reverse', 'from most positive to most negative')
    .option('--limit <n>', 'ticks to list at most', '100')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  quoin liquidity ticks 1 --store lmdb:./pools --from -1 --reverse')
    .action((pool: string, options: TicksOptions) =>
      finish(options.json ?? false, () => ticks(pool, options))
    )

  group
    .command('positions')
    .description('show a position, or list those of an owner, of a pool, of both')
    .argument('[position]', 'the number of one position')
    .requiredOption(...STORE)
    .option('--owner <address>', 'positions of this owner')
    .option('--pool <n>', 'positions in this pool')
    .option('--limit <n>', 'positions to list at most', '100')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  quoin liquidity positions --store lmdb:./pools --owner osmo1… --pool 1'
    )
    .action((id: string | undefined, options: PositionsOptions) =>
      finish(options.json ?? false, () => positions(id, options))
    )

  group
    .command('depth')
    .description('show how far the price of a pool goes for how much')
    .argument('<pool>', 'the number of the pool')
    .requiredOption(...STORE)
    .option('--percent <n>', 'how far to look, up and down', '10')
    .option('--ticks <n>', 'ticks to look at in each direction at most', '1000')
    .option('--svg <file>', 'write a picture too')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  quoin liquidity depth 1 --store lmdb:./pools --percent 2 --svg depth.svg'
    )
    .action((pool: string, options: DepthOptions) =>
      finish(options.json ?? false, () => depth(pool, options))
    )

  group
    .command('quote')
    .description('say what a swap would give, or cost')
    .argument('<pool>', 'the number of the pool')
    .argument('<coin>', 'what to pay, like 1000uosmo')
    .requiredOption(...STORE)
    .option('--buy', 'the coin is what to get instead')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  quoin liquidity quote 1 1000000uosmo --store lmdb:./pools')
    .action((pool: string, coin: string, options: QuoteOptions) =>
      finish(options.json ?? false, () => quote(pool, coin, options))
    )

  group
    .command('explain')
    .description("say what a raw key of a node's store is, and what its value says")
    .argument('<key>', 'the key in hexadecimal')
    .argument('[value]', 'its value in hexadecimal')
    .option('--store <url>', 'look the value up in this store')
    .option('--profile <name>', 'the layout of keys: chain, seed', 'chain')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  quoin liquidity explain 01000000000000000105ffffffffffffff38 0a01351202 --profile chain\n\nExits 1 when the bytes are not a key.'
    )
    .action((key: string, value: string | undefined, options: ExplainOptions) =>
      finish(options.json ?? false, () => explain(key, value, options))
    )

  group
    .command('diff')
    .description('show the rows in which two states differ, with their keys and values explained')
    .argument('<first>', 'a store, for example lmdb:./monday')
    .argument('<second>', 'another store')
    .option('--limit <n>', 'differences to show at most', '1000')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  quoin liquidity diff lmdb:./monday lmdb:./tuesday
  quoin liquidity diff lmdb:./node lmdb:./replayed --json

Compares what nodes of the chain would hold: import the exports of two heights, or of two nodes, each into a store.
Exits 1 when something differs.`
    )
    .action((first: string, second: string, options: DiffOptions) =>
      finish(options.json ?? false, () => diff(first, second, options))
    )

  group
    .command('verify')
    .description('make every index and every sum again from the positions, and report every difference')
    .requiredOption(...STORE)
    .option('--limit <n>', 'differences to report at most', '1000')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  quoin liquidity verify --store lmdb:./pools\n\nExits 1 when something differs.'
    )
    .action(({ store, limit, json = false }: ListOptions & { readonly limit: string }) =>
      finish(json, () => verify(store, limit, json))
    )
}
