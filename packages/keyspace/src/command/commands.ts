/**
 * The commands on keyspaces, declared once for `keyspace` and for `quoin keyspace`. Each is loaded when it runs: an audit
 * needs no keyspaces.
 */
import { audit } from './audit.ts'
import type { KeyspaceSource } from './source.ts'

export interface CommandOptions {
  readonly json?: boolean
  readonly space?: string
  readonly exitCode?: boolean
  readonly fix?: boolean
  readonly sarif?: boolean
  readonly watch?: boolean
  readonly explain?: string
}

export interface KeyspaceCommand {
  readonly name: string
  readonly about: string
  /** Arguments with their descriptions; an argument is required unless it is marked optional. */
  readonly args: readonly (readonly [name: string, about: string, optional?: 'optional'])[]
  /** Options as commander writes them: `--space <name>`. */
  readonly options: readonly (readonly [flags: string, about: string])[]
  readonly help: string
  /** Whether the command reads the keyspaces of its source. */
  readonly readsKeyspaces: boolean
  readonly run: (
    source: KeyspaceSource,
    args: readonly string[],
    options: CommandOptions
  ) => number | Promise<number>
}

const JSON_OPTION = ['--json', 'print JSON'] as const

const AUDIT_HELP = `
The file:
  { "name": "example", "collections": [
    { "name": "ticks",
      "key": [{ "raw": "01" }, { "u64be": "pool" }, "|", { "decimal": "tick" }],
      "scans": [["pool"]] } ] }

  A string is literal text, raw is literal bytes; any other part is a codec and the component's name. Codecs:
CODECS
  with options such as length, min, max, except; layout.schema.json of the package has them all, for editors.
  A scan names the leading components to iterate under; its prefix runs to the start of the next component.
  { "prefix": ["pool"], "trailing": false }   without the separator after the last of them
  { "prefix": ["pool"], "order": "value" }    the rest walks in the order of its values
  { "prefix": ["pool"], "from": ["tick"] }    a range from a tick on; with "reverse": true, down from it
  { "prefix": ["pool"], "delete": true }      a deletion;  { "all": true }  all keys of the store
  { "get": ["pool", "tick"] }                 a read of one key
  The file is JSON with comments, or YAML. { "$ref": "other.json#/definitions/owner" } stands for that value.

Exits 0 when the layout is sound, 1 when not (with two keys that show it), 2 when the file is malformed or not all of
it could be proved. --fix and --sarif do not change the exit code.`

/** Names in lines of a terminal's width. */
const wrapped = (names: readonly string[]): string =>
  names
    .reduce<string[]>((lines, name) => {
      const last = lines.at(-1)
      if (last === undefined || last.length + name.length > 108) lines.push(`    ${name}`)
      else lines[lines.length - 1] = `${last} ${name}`
      return lines
    }, [])
    .join('\n')

export const keyspaceCommands = (codecs: readonly string[]): readonly KeyspaceCommand[] => [
  {
    name: 'check',
    about: 'prove every keyspace: each property with its verdict, automaton size and time',
    args: [],
    options: [JSON_OPTION],
    help: '\nExits 1 when any property fails.',
    readsKeyspaces: true,
    run: async ({ load }, _, { json = false }) => (await import('./check.ts')).check(load, json)
  },
  {
    name: 'explain',
    about: 'say whose key this is, component by component',
    args: [['hex', 'the raw key in hexadecimal']],
    options: [['--space <name>', 'look only in this keyspace (or in these fields of a hash)'], JSON_OPTION],
    help: '\nExits 1 when the key fits nothing; then the nearest collection is named, and where the key departs from it.',
    readsKeyspaces: true,
    run: async ({ load }, [hex = ''], { space, json = false }) =>
      (await import('./explain.ts')).explain(load, hex, space, json)
  },
  {
    name: 'doc',
    about: 'print the reference of all keys, as Markdown',
    args: [],
    options: [JSON_OPTION],
    help: '',
    readsKeyspaces: true,
    run: async ({ load }, _, { json = false }) => (await import('./doc.ts')).doc(load, json)
  },
  {
    name: 'diff',
    about: 'compare two keyspaces, collection by collection',
    args: [
      ['first', ''],
      ['second', '']
    ],
    options: [JSON_OPTION, ['--exit-code', 'exit 1 when they differ']],
    help: '',
    readsKeyspaces: true,
    run: async ({ load }, [first = '', second = ''], { json = false, exitCode = false }) =>
      (await import('./diff.ts')).diff(load, first, second, json, exitCode)
  },
  {
    name: 'audit',
    about: "prove somebody else's layout, from a JSON or YAML file",
    args: [['file', 'the layout, or - for standard input', 'optional']],
    options: [
      JSON_OPTION,
      ['--fix', 'print the layout with proved remedies'],
      ['--sarif', 'print SARIF, for code hosts'],
      ['--watch', 'audit again at each change of the file'],
      ['--explain <property>', 'teach a property, P1 to P7, with a real bug']
    ],
    help: AUDIT_HELP.replace('CODECS', wrapped(codecs)),
    readsKeyspaces: false,
    run: ({ components }, [file], options) => audit(file, components, options)
  }
]
