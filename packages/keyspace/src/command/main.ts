/** The command `keyspace`: the commands on keyspaces, for the modules that are named after their arguments. */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { QuoinError, reasonOf } from '@quoin/primitives'
import { EXIT, endOnClosedOutput, exitHelp, finish, print, table } from '@quoin/primitives/command'
import { LAYOUT_CODECS } from '../file/parse.ts'
import { type CommandOptions, type KeyspaceCommand, keyspaceCommands } from './commands.ts'
import { loadModules } from './modules.ts'

const COMMANDS = keyspaceCommands(LAYOUT_CODECS)

export const runCommand = async (argv: readonly string[]): Promise<void> => {
  endOnClosedOutput('keyspace')
  await finish(argv.includes('--json'), () => dispatch(argv), 'keyspace')
}

const dispatch = (argv: readonly string[]): number | Promise<number> => {
  const { values, positionals } = parse(argv)
  const [name, ...rest] = positionals
  if (values.version) {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    print(version)
    return EXIT.ok
  }
  const command = COMMANDS.find(each => each.name === name)
  if (command && values.help) {
    print(helpOf(command))
    return EXIT.ok
  }
  if (name === undefined || values.help) {
    print(HELP)
    return values.help || argv.length === 0 ? EXIT.ok : EXIT.usage
  }
  if (!command) throw usage(`unknown command ${name}; known: ${COMMANDS.map(each => each.name).join(', ')}`)
  const args = rest.splice(0, command.args.length)
  const needed = command.args.filter(([, , optional]) => optional === undefined).length
  if (args.length < needed) throw usage(`missing argument; usage: ${usageOf(command)}`)
  if (rest.length > 0 && !command.readsKeyspaces)
    throw usage(`unexpected argument ${rest[0]}; usage: ${usageOf(command)}`)
  const known = command.options.map(([flags]) => flags.split(' ')[0])
  for (const option of Object.keys(values)) {
    if (!known.includes(`--${option}`)) throw usage(`unknown option --${option}; usage: ${usageOf(command)}`)
  }
  const { 'exit-code': exitCode = false, ...options } = values
  return command.run({ load: () => loadModules(rest) }, args, { ...options, exitCode } as CommandOptions)
}

const parse = (argv: readonly string[]) => {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        json: { type: 'boolean' },
        space: { type: 'string' },
        'exit-code': { type: 'boolean' },
        fix: { type: 'boolean' },
        sarif: { type: 'boolean' },
        watch: { type: 'boolean' },
        explain: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'V' }
      }
    })
  } catch (error) {
    throw usage(reasonOf(error))
  }
}

const usage = (message: string): QuoinError => new QuoinError('ERR_USAGE', message)

const usageOf = ({ name, args, options, readsKeyspaces }: KeyspaceCommand): string =>
  [
    `keyspace ${name}`,
    ...args.map(([arg, , optional]) => (optional ? `[${arg}]` : `<${arg}>`)),
    ...(readsKeyspaces ? ['<module…>'] : []),
    ...options.map(([flags]) => `[${flags}]`)
  ].join(' ')

const helpOf = (command: KeyspaceCommand): string =>
  `Usage: ${usageOf(command)}

${command.about}

${table([
  ...command.args.map(([arg, about]) => [`  ${arg}`, about]),
  ...(command.readsKeyspaces ? [['  module', 'a file or a package that exports keyspaces']] : []),
  ...command.options.map(([flags, about]) => [`  ${flags}`, about])
])}
${command.help}`.trimEnd()

const HELP = `Usage: keyspace <command> …

Proves key layouts, and explains raw keys by them.

${table(COMMANDS.map(command => [`  ${usageOf(command)}`, command.about]))}

A module is a JavaScript file or a package that exports keyspaces, or groups of keyspaces that share a store.

Examples:
  keyspace audit layout.json            prove a layout from a file
  keyspace audit --explain P2           teach a property with a real bug
  keyspace check ./keys.js              prove the keyspaces that a module exports
  keyspace explain 6f3a01 ./keys.js     say whose key this is
  keyspace doc ./keys.js > keys.md      write the reference of all keys

${exitHelp('keyspace')}`
