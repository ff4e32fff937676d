/** The command `quoin`. */

import { EXIT, endOnClosedOutput, exitHelp, printJson } from '@quoin/primitives/command'
import { Command, CommanderError } from 'commander'
import { liquidityCommand } from '../optional-packages.ts'
import { version } from '../package-files.ts'
import { addDiscoveryCommands } from './discovery/commands.ts'
import { addKeyspaceCommands } from './keyspace/commands.ts'
import { addKvCommands } from './kv/commands.ts'
import { addNodeCommands } from './node/commands.ts'
import { addOperateCommands } from './operate/commands.ts'
import { addStoreCommands } from './store/commands.ts'
import { addTokenCommands } from './tokens/commands.ts'
import { addVerifyCommands } from './verify/commands.ts'

const program = new Command('quoin')
  .description('A node for BSV overlays on one embedded database, with key layouts that are proved.')
  .version(version)
  .showHelpAfterError('(quoin --help shows examples)')
  .addHelpText(
    'after',
    `
Examples:
  quoin demo                           a node, a chain and some data, in one line
  quoin init mainnet --chain headers:URL   a file of settings, checked
  quoin doctor quoin.yaml              check the machine, the store and the services of a node
  quoin serve                          run a node on http://127.0.0.1:8080
  quoin serve deployment-info.json     run a LARS or CARS project, as it is
  quoin dev                            the same, with changed plug-ins loaded again
  quoin lookups                        say how far each lookup service of a node is
  quoin advertise status --uri …       say whether clients find the node by SHIP and SLAP
  quoin hosts                          say how advertised hosts do; check them, ban them
  quoin kv set name Ty                 an entry of the key-value store, beside quoin demo
  quoin dev-wallet                     a BRC-100 wallet to develop with
  quoin keyspace check                 prove every key layout that Quoin ships
  quoin keyspace explain 0331          say what a raw key is
  quoin keyspace audit layout.json     prove a layout of your own, or get two keys that break it
  quoin store stats lmdb:./data        say how large a store is, and what it runs on
  quoin store backup lmdb:./data ./b   copy a store beside the process that writes to it
  quoin verify lmdb:./data             check proofs, admissions, spends and the index
  quoin repair lmdb:./data             mend what quoin verify finds
  quoin token <id>                     what a BSV21 token is, and who has it
  quoin liquidity --help               pools, ticks and positions of a Cosmos chain

${exitHelp('quoin')}`
  )
  .exitOverride()

await addNodeCommands(program)
await addKeyspaceCommands(program)
addKvCommands(program)
addDiscoveryCommands(program)
await addOperateCommands(program)
addStoreCommands(program)
addTokenCommands(program)
addVerifyCommands(program)
const liquidity = await liquidityCommand()
liquidity?.addLiquidityCommands(program)
inheritSettings(program)

endOnClosedOutput('quoin')

try {
  if (process.argv.length <= 2) program.outputHelp()
  else await program.parseAsync()
} catch (error) {
  if (!(error instanceof CommanderError)) throw error
  process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage
  if (error.exitCode !== 0 && process.argv.includes('--json')) {
    printJson({ error: { code: 'ERR_USAGE', message: error.message } })
  }
}

/** Commander copies these to subcommands only when they are made after them. */
function inheritSettings(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command)
    inheritSettings(child)
  }
}
