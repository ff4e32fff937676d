/** `quoin keyspace …`: check, explain, doc, diff, audit. */
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import {
  type AnyKeyspace,
  auditLayout,
  diffKeyspaces,
  documentKeyspaces,
  type Explanation,
  type Finding,
  fromHex,
  PROPERTIES,
  type Proof,
  parseLayout,
  QuoinError,
  toHex,
  type Verdict
} from '../keyspace/index.ts'
import { EXIT, finish } from './exit.ts'
import { type Colour, milliseconds, paint, print, printJson, table } from './terminal.ts'

/** The largest layout file that is read: 1,000 collections need about a tenth of it. */
const MAX_FILE_BYTES = 4 * 1024 * 1024

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
      finish(json, () => explainKey(hex, space, json))
    )

  group
    .command('doc')
    .description('print the reference of all keys, as Markdown')
    .addHelpText('after', '\nExample:\n  quoin keyspace doc > docs/keys.md')
    .action(() =>
      finish(false, async () => {
        const { shippedKeyspaces } = await shipped()
        process.stdout.write(documentKeyspaces(shippedKeyspaces))
        return EXIT.ok
      })
    )

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

/** Loaded when asked for, so that an unsound declaration is an answer of \`check\` and not a crash at start. */
const shipped = () => import('../keyspaces.ts')

const findSpace = async (name: string): Promise<AnyKeyspace> => {
  const { shippedKeyspaces } = await shipped()
  const found = shippedKeyspaces.find(space => space.name === name)
  if (found) return found
  const names = shippedKeyspaces.map(space => space.name).join(', ')
  throw new QuoinError('ERR_USAGE', `there is no keyspace ${name}; there are ${names}`, { name })
}

const check = async (json: boolean): Promise<number> => {
  const start = performance.now()
  let spaces: readonly { name: string; collections: number; proof: Proof }[]
  let stores: readonly { name: string; members: readonly string[]; proofs: readonly Proof[] }[]
  try {
    const { shippedKeyspaces, shippedStores } = await shipped()
    spaces = shippedKeyspaces.map(({ name, all, proof }) => ({ name, collections: all.length, proof }))
    stores = shippedStores().map(({ name, members, proofs }) => ({
      name,
      members: members.map(space => space.name),
      proofs
    }))
  } catch (error) {
    if (!(error instanceof QuoinError) || error.code !== 'ERR_KEYSPACE_UNSOUND') throw error
    const findings = error.details['findings'] as readonly Finding[]
    if (json) printJson({ sound: false, findings })
    else print(`${paint('red', 'unsound')}\n${findings.map(findingLine).join('\n')}`)
    return EXIT.no
  }
  const time = performance.now() - start
  if (json) {
    printJson({
      sound: true,
      milliseconds: time,
      keyspaces: spaces.map(({ name, collections, proof }) => ({ name, collections, ...proof })),
      stores: stores.map(({ name, members, proofs }) => ({ name, members, verdicts: joined(proofs) }))
    })
    return EXIT.ok
  }
  for (const { name, collections, proof } of spaces) {
    print(`${paint('bold', name)}  ${collections} collections, ${proof.states} states`)
    print(`${verdictTable(proof.verdicts)}\n`)
  }
  for (const { name, members, proofs } of stores) {
    print(`${paint('bold', `store: ${name}`)}  ${members.join(', ')}`)
    print(`${verdictTable(joined(proofs))}\n`)
  }
  const count = spaces.reduce((sum, { collections }) => sum + collections, 0)
  print(
    `${paint('green', 'sound')}: ${spaces.length} keyspaces, ${count} collections, ${stores.length} stores, in ${milliseconds(time)}`
  )
  return EXIT.ok
}

/** The verdicts on a store: what was decided as each of its keyspaces joined, added up. */
const joined = (proofs: readonly Proof[]): Verdict[] => {
  const all = proofs.flatMap(({ verdicts }) => verdicts)
  return [...new Set(all.map(({ property }) => property))].map(property => {
    const of = all.filter(verdict => verdict.property === property)
    return of.reduce((sum, verdict) => ({
      property,
      holds: sum.holds && verdict.holds,
      checks: sum.checks + verdict.checks,
      visited: sum.visited + verdict.visited,
      milliseconds: sum.milliseconds + verdict.milliseconds
    }))
  })
}

const verdictTable = (verdicts: readonly Verdict[]): string =>
  table(
    verdicts.map(({ property, holds, checks, visited, milliseconds: time }) => [
      `  ${property}`,
      holds ? paint('green', 'holds') : paint('red', 'fails'),
      PROPERTIES[property],
      plural(checks, 'check'),
      `${visited} states visited`,
      milliseconds(time)
    ])
  )

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

const findingLine = ({ property, message }: Finding): string => `  ${paint('red', property)}  ${message}`

const explainKey = async (hex: string, space: string | undefined, json: boolean): Promise<number> => {
  const key = fromHex(hex.replace(/^0x/i, ''))
  const spaces = space === undefined ? (await shipped()).storeKeyspaces : [await findSpace(space)]
  const explanations = spaces.map(each => each.explain(key))
  const matches = explanations.filter(each => each.found)
  const [nearest] = explanations
    .flatMap(each => (each.found || !each.nearest ? [] : [each.nearest]))
    .sort((a, b) => b.offset - a.offset)
  if (json) {
    printJson({
      key: toHex(key),
      found: matches.length > 0,
      matches: matches.map(({ keyspace, collection, spans }) => ({ keyspace, collection, spans })),
      nearest: matches.length > 0 ? null : (nearest ?? null)
    })
  } else if (matches.length > 0) print(matches.map(explained).join('\n\n'))
  else {
    print(`${toHex(key) || 'the empty key'} fits nothing.`)
    if (nearest) print(`Nearest: ${nearest.keyspace}.${nearest.collection}: ${nearest.message}.`)
  }
  return matches.length > 0 ? EXIT.ok : EXIT.no
}

const SPAN_COLOURS: readonly Colour[] = ['cyan', 'yellow', 'magenta', 'green', 'blue']

const explained = ({ keyspace, collection, spans }: Explanation & { found: true }): string => {
  const colours = spans.map((span, i) =>
    span.component === undefined ? 'dim' : SPAN_COLOURS[i % SPAN_COLOURS.length]!
  )
  return [
    `${paint('bold', `${keyspace}.${collection}`)}  ${spans.map((span, i) => paint(colours[i]!, span.hex)).join('')}`,
    table(
      spans.map(({ start, end, hex, component = '', codec = 'literal', text }, i) => [
        `  ${start}–${end}`,
        paint(colours[i]!, hex),
        component,
        codec,
        text
      ])
    )
  ].join('\n')
}

const diff = async (first: string, second: string, json: boolean, exitCode: boolean): Promise<number> => {
  const changes = diffKeyspaces(await findSpace(first), await findSpace(second))
  const differ = changes.some(({ change }) => change !== 'same')
  if (json) printJson({ first, second, same: !differ, changes })
  else {
    const colours = {
      same: 'dim',
      changed: 'yellow',
      'only in first': 'red',
      'only in second': 'green'
    } as const
    const label = {
      same: 'same',
      changed: 'changed',
      'only in first': `only in ${first}`,
      'only in second': `only in ${second}`
    }
    for (const { collection, change, first: before, second: after, sharedKey } of changes) {
      print(paint(colours[change], `${collection}: ${label[change]}`))
      if (change === 'same') print(`    ${before?.key}`)
      else {
        if (before) print(paint('red', `  - ${before.key}`))
        if (after) print(paint('green', `  + ${after.key}`))
      }
      if (before && after && before.order !== after.order) {
        print(`    walked by ${before.order}`)
        print(`    walks by ${after.order}`)
      }
      if (sharedKey !== undefined) print(`    cannot be told apart: ${sharedKey} is a key of both`)
    }
    const count = (kind: string): number => changes.filter(({ change }) => change === kind).length
    print(
      `\n${count('same')} the same, ${count('changed')} changed, ${count('only in first')} only in ${first}, ${count('only in second')} only in ${second}`
    )
  }
  return exitCode && differ ? EXIT.no : EXIT.ok
}

const readLayout = (file: string): string => {
  let bytes: Buffer
  try {
    bytes = readFileSync(file === '-' ? 0 : file)
  } catch (error) {
    throw new QuoinError(
      'ERR_FILE',
      `cannot read ${file}: ${error instanceof Error ? error.message : error}`,
      { file }
    )
  }
  if (bytes.length > MAX_FILE_BYTES) {
    throw new QuoinError(
      'ERR_FILE',
      `${file} has ${bytes.length} bytes; a layout has at most ${MAX_FILE_BYTES}`,
      { file }
    )
  }
  return bytes.toString('utf8')
}

const audit = (file: string, json: boolean): number => {
  const report = auditLayout(parseLayout(readLayout(file)))
  if (json) printJson(report)
  else {
    for (const { name, key, sound, order } of report.collections) {
      print(`${sound ? paint('green', 'sound  ') : paint('red', 'unsound')}  ${paint('bold', name)}  ${key}`)
      if (order) print(`         ${paint('dim', `walks by ${order}`)}`)
    }
    const { checked, overlapping } = report.pairs
    print(
      `${overlapping.length === 0 ? paint('green', 'sound  ') : paint('red', 'unsound')}  ${plural(checked, 'pair')}, ${overlapping.length} overlap`
    )
    for (const { property, message, witness } of report.findings) {
      print(`\n${paint('red', property)} ${PROPERTIES[property]}`)
      print(`  ${message}`)
      print(`  ${witness[0]}\n  ${witness[1]}`)
    }
    print(
      `\n${report.name}: ${report.sound ? paint('green', 'sound') : paint('red', `unsound, ${plural(report.findings.length, 'finding')}`)}`
    )
  }
  return report.sound ? EXIT.ok : EXIT.no
}
