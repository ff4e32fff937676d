/** `quoin keyspace …`: what each command takes, and the help that teaches it. */

import { finish } from '@quoin/primitives/command'
import type { Command } from 'commander'
import { audit } from './audit.ts'
import { check } from './check.ts'
import { diff } from './diff.ts'
import { doc } from './doc.ts'
import { explain } from './explain.ts'

interface Json {
  readonly json?: boolean
}

export const addKeyspaceCommands = (program: Command): void => {
  const group = program
    .command('keyspace')
    .description('prove key layouts, explain raw keys')
    .addHelpText(
      'after',
      `
Examples:
  quoin keyspace check                        prove everything that Quoin ships
  quoin keyspace explain 0331                 what is this key?
  quoin keyspace audit layout.json            prove a layout of your own
  quoin keyspace diff liquidity-seed liquidity-chain`
    )

  group
    .command('check')
    .description('prove every shipped keyspace: each property with its verdict, automaton size and time')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExits 1 when any property fails.')
    .action(({ json = false }: Json) => finish(json, () => check(json)))

  group
    .command('explain')
    .description('say whose key this is, component by component')
    .argument('<hex>', 'the raw key in hexadecimal')
    .option('--space <name>', 'look only in this keyspace (or in these fields of a hash)')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  quoin keyspace explain 01000000000000000105ffffffffffffff38 --space liquidity-chain
  quoin keyspace explain 7a3a73796d3a50455045

Exits 1 when the key fits nothing; then the nearest collection is named, and where the key departs from it.`
    )
    .action((hex: string, { space, json = false }: Json & { space?: string }) =>
      finish(json, () => explain(hex, space, json))
    )

  group
    .command('doc')
    .description('print the reference of all keys, as Markdown')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  quoin keyspace doc > docs/keys.md')
    .action(({ json = false }: Json) => finish(json, () => doc(json)))

  group
    .command('diff')
    .description('compare two keyspaces, collection by collection')
    .argument('<first>')
    .argument('<second>')
    .option('--json', 'print JSON')
    .option('--exit-code', 'exit 1 when they differ')
    .addHelpText('after', '\nExample:\n  quoin keyspace diff liquidity-seed liquidity-chain')
    .action(
      (first: string, second: string, { json = false, exitCode = false }: Json & { exitCode?: boolean }) =>
        finish(json, () => diff(first, second, json, exitCode))
    )

  group
    .command('audit')
    .description("prove somebody else's layout, from a JSON file")
    .argument('<file>', 'the layout, or - for standard input')
    .option('--json', 'print JSON')
    .addHelpText('after', AUDIT_HELP)
    .action((file: string, { json = false }: Json) => finish(json, () => audit(file, json)))
}

const AUDIT_HELP = `
The file:
  { "name": "example", "collections": [
    { "name": "ticks",
      "key": [{ "raw": "01" }, { "u64be": "pool" }, "|", { "decimal": "tick" }],
      "scans": [["pool"]] } ] }

  A string is literal text, raw is literal bytes; any other part is a codec and the component's name. Codecs:
    u8 u16be u32be u64be i64be tick9 f64 bytes hex decimal text escaped bech32 base58 denom txid outpoint
  with the options length (bytes, hex), bits (decimal), except (text, escaped) and max.
  A scan names the leading components to iterate under; its prefix runs to the start of the next component.
  { "prefix": ["pool"], "trailing": false } leaves out the separator after the last of them, and
  { "prefix": ["pool"], "order": "value" } claims that the rest walks in the order of its values.

Exits 0 when the layout is sound, 1 when not (with two keys that show it), 2 when the file is malformed.`
