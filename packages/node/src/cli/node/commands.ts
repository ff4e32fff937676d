/** `quoin serve`, `quoin demo` and the commands that ask a node: their arguments, options and help. */

import { finish } from '@quoin/primitives/command'
import type { Command } from 'commander'
import type { BootstrapCommandOptions } from './bootstrap.ts'
import type { DemoOptions } from './demo.ts'
import { DEFAULT_URL } from './http.ts'
import type { ImportOptions } from './import.ts'
import type { LookupsOptions, ReplayOptions } from './lookups.ts'
import { type ServeOptions, serve } from './serve.ts'
import { addSettings } from './settings.ts'
import type { SubmitOptions } from './submit.ts'
import type { UpgradeCommandOptions } from './upgrade.ts'

/** Commands whose options are the settings of a node. Other commands do not load the settings. */
const WITH_SETTINGS = ['serve', 'dev', 'config', 'import', 'bootstrap', 'upgrade']

interface RequestOptions {
  readonly url: string
  readonly json?: boolean
}

export const addNodeCommands = async (program: Command): Promise<void> => {
  // `quoin liquidity import` is not about a node.
  const isNeeded =
    process.argv[2] !== 'liquidity' && process.argv.some(argument => WITH_SETTINGS.includes(argument))
  const settings = async (command: Command, shown?: readonly string[]): Promise<void> => {
    if (isNeeded) await addSettings(command, shown)
  }

  await settings(
    program
      .command('serve')
      .description('run a node, until Ctrl-C')
      .argument('[file]', FILE_ARGUMENT)
      .option('--json', 'print what it listens on as JSON')
      .addHelpText('after', SERVE_HELP)
      .action((file: string | undefined, { json, ...options }: ServeOptions & { json?: boolean }) =>
        finish(json ?? false, () => serve(file, options, json ?? false))
      )
  )

  await settings(
    program
      .command('dev')
      .description('run a node that loads changed plug-ins again, until Ctrl-C')
      .argument('[file]', `${FILE_ARGUMENT}; ./deployment-info.json unless given`)
      .addHelpText('after', DEV_HELP)
      .action((file: string | undefined, options: ServeOptions) =>
        finish(false, async () => (await import('./dev.ts')).dev(file, options))
      )
  )

  await settings(
    program
      .command('config')
      .description('print the configuration that a node would have here, secrets hidden, and check it')
      .argument('[file]', FILE_ARGUMENT)
      .option('--json', 'print JSON')
      .addHelpText('after', CONFIG_HELP)
      .action((file: string | undefined, { json, ...options }: ServeOptions & { json?: boolean }) =>
        finish(json ?? false, async () =>
          (await import('./config.ts')).showConfig(file, options, json ?? false)
        )
      )
  )

  program
    .command('demo')
    .description('run a node with a chain of its own, write to it, look it up, and keep it running')
    .option('--exit', 'verify what it did, and end')
    .option('--store <url>', 'where to keep it; otherwise it is gone at the end')
    .option('--port <number>', 'the port to listen on; 8080 unless another program has it')
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', DEMO_HELP)
    .action((options: DemoOptions) =>
      finish(options.json ?? false, async () => (await import('./demo.ts')).demo(options))
    )

  program
    .command('status')
    .description('say how a node does; exits 1 when it is not ready')
    .option('--url <url>', 'the node', DEFAULT_URL)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  quoin status --url http://localhost:8080')
    .action(({ url, json = false }: RequestOptions) =>
      finish(json, async () => (await import('./status.ts')).status(url, json))
    )

  program
    .command('submit')
    .description('submit a transaction to topics of a node')
    .argument('<file>', 'a BEEF: bytes, hexadecimal, base64 or {"beef": …}; - is the standard input')
    .requiredOption('--topic <name...>', 'the topics')
    .option('--url <url>', 'the node', DEFAULT_URL)
    .option('--json', 'print JSON')
    .addHelpText('after', SUBMIT_HELP)
    .action((file: string, options: SubmitOptions) =>
      finish(options.json ?? false, async () => (await import('./submit.ts')).submit(file, options))
    )

  program
    .command('lookup')
    .description('ask a lookup service of a node; exits 1 when it finds nothing')
    .argument('<service>', 'its name, for example ls_hello')
    .argument('<query>', 'what to ask, as JSON')
    .option('--url <url>', 'the node', DEFAULT_URL)
    .option('--json', 'print JSON, with the BEEF of each output')
    .addHelpText('after', LOOKUP_HELP)
    .action((service: string, query: string, { url, json = false }: RequestOptions) =>
      finish(json, async () => (await import('./lookup.ts')).lookup(service, query, url, json))
    )

  addLookupsCommand(program)

  await settings(
    program
      .command('import')
      .description('put transactions from files into a store')
      .argument('<file...>', 'a BEEF, or lines of {"beef": hex or base64}')
      .option('--topic <name...>', 'topics to submit them to; otherwise they are only indexed')
      .option('--json', 'print JSON')
      .addHelpText('after', IMPORT_HELP)
      .action((files: string[], { json, ...options }: ImportOptions & { json?: boolean }) =>
        finish(json ?? false, async () =>
          (await import('./import.ts')).importFiles(files, options, json ?? false)
        )
      ),
    ['store', 'chain', 'network', 'plugins', 'index']
  )
  program.commands
    .find(command => command.name() === 'import')!
    .command('overlay-express')
    .description('submit the transactions of an overlay-express, from its database, to their topics again')
    .requiredOption(
      '--from <database>',
      'a SQLite file, mysql://…, postgres://…, or a configuration of Knex in JSON'
    )
    .addHelpText('after', OVERLAY_EXPRESS_HELP)
    .action((_: unknown, command: Command) => {
      // The command above it takes the settings, --topic and --json, wherever they stand.
      const { json, from, ...options } = command.optsWithGlobals<
        ImportOptions & { json?: boolean; from: string }
      >()
      return finish(json ?? false, async () =>
        (await import('./import-overlay-express.ts')).importOverlayExpress(from, options, json ?? false)
      )
    })

  await settings(
    program
      .command('bootstrap')
      .description('fill a store with the topics of another node, verified')
      .argument('[file]', FILE_ARGUMENT)
      .requiredOption('--from <url>', 'the node to take transactions from')
      .option('--topic <name...>', 'the topics to take; all that both nodes have unless given')
      .option('--sample <percent>', 'verify the scripts of a random part of the unmined transactions only')
      .option('--follow', 'then run a node that follows the other one, until Ctrl-C')
      .option('--json', 'print JSON')
      .addHelpText('after', BOOTSTRAP_HELP)
      .action((file: string | undefined, options: BootstrapCommandOptions) =>
        finish(options['json'] === true, async () =>
          (await import('./bootstrap.ts')).bootstrapStore(file, options)
        )
      ),
    ['store', 'chain', 'network', 'plugins', 'index']
  )

  await settings(
    program
      .command('upgrade')
      .description('bring a store that an earlier version wrote to this version')
      .argument('[store]', 'the store, for example lmdb:./data; that of the configuration unless given')
      .option('--to <url>', 'leave the store as it is, and write the result to this new store')
      .option('--in-place', 'change a store on a server, of which there is a backup')
      .option('--rebuild', 'index and submit all transactions again, even where migrations would do')
      .option('--json', 'print JSON')
      .addHelpText('after', UPGRADE_HELP)
      .action((url: string | undefined, options: UpgradeCommandOptions) =>
        finish(options['json'] === true, async () => (await import('./upgrade.ts')).upgrade(url, options))
      ),
    ['config', 'plugins', 'chain', 'index']
  )
}

const FILE_ARGUMENT = 'settings in YAML, or the deployment-info.json of a LARS or CARS project (BRC-102)'

const TOKEN = ['--token <token>', 'the adminToken of the node (QUOIN_ADMIN_TOKEN)'] as const

const addLookupsCommand = (program: Command): void => {
  const group = program
    .command('lookups')
    .description('say how far each lookup service of a node is; exits 1 when one fails')
    .option('--url <url>', 'the node', DEFAULT_URL)
    .option(...TOKEN)
    .option('--json', 'print JSON')
    .addHelpText('after', LOOKUPS_HELP)
    .action((options: LookupsOptions) =>
      finish(options.json ?? false, async () => (await import('./lookups.ts')).lookups(options))
    )

  group
    .command('replay')
    .description('deliver the changes of topics to a lookup service again, and wait until it has them')
    .argument('<service>', 'the name, for example ls_hello')
    .option('--from <position>', 'zero, or a position of the log of --topic', 'zero')
    .option('--topic <name>', 'only this topic; all unless given')
    .option('--url <url>', 'the node', DEFAULT_URL)
    .option(...TOKEN)
    .option('--json', 'print JSON')
    .addHelpText('after', REPLAY_HELP)
    .action((service: string, _: unknown, command: Command) => {
      // The group takes the options that it has, too, wherever they stand.
      const options = command.optsWithGlobals<ReplayOptions>()
      return finish(options.json ?? false, async () =>
        (await import('./lookups.ts')).replay(service, options)
      )
    })
}

const BOOTSTRAP_HELP = `
Examples:
  quoin bootstrap --from https://node.example --store lmdb:./data --chain headers:https://example.com/chaintracks
  quoin bootstrap quoin.yaml --from https://node.example --follow
  quoin bootstrap --from https://node.example --topic tm_mine --plugins ./mine.js --sample 5

The other node is not trusted. Headers come from --chain and are checked by their proof of work, proofs are checked against
the headers, and scripts of unmined transactions are run. The topics of this node decide again on every admission. With
--sample, unmined transactions outside of the sample are recorded as unverified: a transaction that spends one is verified
together with it.

Nothing else may write to the store meanwhile. After Ctrl-C, a crash or a lost connection the same command goes on where it
was. A transaction that fails is printed with the reason and kept in a queue; a node with the other one among its peers
(--peers, --follow) attempts it again. Exits 1 when there was such, 2 when it could not go on.`

const UPGRADE_HELP = `
Examples:
  quoin upgrade lmdb:./data                          in place; the store as it was is kept beside it
  quoin upgrade lmdb:./data --to lmdb:./data-new     into a new store
  quoin upgrade redis://localhost:6379 --in-place    after a backup with the means of Redis
  quoin upgrade lmdb:./data --rebuild --plugins ./my-topic.js

A store records the layouts of its keys. Where they are those of an earlier version, named steps move its rows to those
of this version; where no steps lead there, every transaction in the store is indexed and submitted again, for which
the settings of the node are taken (its plug-ins, its index). Stop every process on the store first. A copy takes as much
room as the store. After Ctrl-C, a crash or a power loss the same command goes on where it was. Exits 1 when a
transaction was not taken again.`

const SERVE_HELP = `
Examples:
  quoin serve                                       on http://127.0.0.1:8080, with a development chain
  quoin serve --chain headers:https://example.com/chaintracks --plugins ./my-topic.js
  quoin serve --config quoin.yaml --port 9000       a file, and something else than it says
  quoin serve deployment-info.json                  a LARS or CARS project, as it is
  quoin serve --plugins tm_x=./x.ts#X,some-package  one export of a file under a name; a package
  quoin serve --plugins '{"module":"./ls.ts","name":"ls_x","hydrateWith":"knex"}'
  QUOIN_ADMIN_TOKEN=… quoin serve                   secrets belong into the environment, or into a file

Plug-ins written for @bsv/overlay run as they are, each module in a process of its own: classes, instances or factories
of topics and lookup services. hydrateWith knex gives a factory SQLite, in a file beside the store; hydrateWith mongo
needs --mongo. TypeScript files need the package tsx.

Every option is also a key of the file and an environment variable; later wins: file, environment, option. quoin config
shows what they come to. The first Ctrl-C (or SIGTERM) ends it in peace, the second at once; nothing that was answered
is lost either way.`

const DEV_HELP = `
Examples:
  quoin dev                                   the project of ./deployment-info.json, on a development chain
  quoin dev backend/deployment-info.json --store memory:
  quoin dev --plugins tm_x=./x.ts             one topic manager, without a project

It takes the options of quoin serve. When a plug-in, or a local file that it imports, changes, its process is replaced
and the store stays; a file that does not load is reported, and the loaded one keeps serving.`

const LOOKUPS_HELP = `
Examples:
  quoin lookups                               asks http://localhost:8080, with QUOIN_ADMIN_TOKEN
  quoin lookups --url https://node.example --token … --json
  quoin lookups replay ls_hello               tell ls_hello everything again

The node has to run, with an admin token: deliveries are its work. State is current, behind (deliveries are under way) or
failing (calls pause after failures), and that of the process where it does not run. Lag counts the changes of topics
that a service has yet to take, retrying the ones that failed and are tried again, dead the ones given up.`

const REPLAY_HELP = `
Examples:
  quoin lookups replay ls_hello                                  all topics, from the beginning
  quoin lookups replay ls_hello --topic tm_hello --from 1200     one topic, after a position of its log

A service that lost its database has it again after a replay. Deliveries are made at least once: a service sees
outputs again that it has, and the order of each output is kept. Ctrl-C ends the command, not the replay. Exits 1 when
changes were given up, or after Ctrl-C.`

const CONFIG_HELP = `
Examples:
  quoin config                          what quoin serve would run with here, and where each setting comes from
  quoin config --config quoin.yaml      check a file
  quoin config > quoin.yaml             a file to begin with

It takes the options of quoin serve. Exits 2 when something is wrong, and says what, where, and what was expected.`

const DEMO_HELP = `
Examples:
  quoin demo                            then open what it prints
  quoin demo --exit                     does it work on this machine? Exits 1 when anything is wrong
  quoin demo --store lmdb:./demo        keep what it wrote`

const SUBMIT_HELP = `
Examples:
  quoin submit tx.beef --topic tm_hello
  echo 0100beef… | quoin submit - --topic tm_hello tm_other --url https://node.example

It is answered when the node has everything on its disk. Exits 1 when no topic took anything of it, or one failed.`

const LOOKUP_HELP = `
Examples:
  quoin lookup ls_hello '{}'
  quoin lookup ls_hello '{"message": "Hello, world"}' --json`

const OVERLAY_EXPRESS_HELP = `
Examples:
  quoin import overlay-express --from ./overlay.sqlite --store lmdb:./data --plugins ./mine.js
  quoin import overlay-express --from mysql://user:password@HOST/overlay --store lmdb:./data --topic tm_mine

The database is read, and not changed. It is opened with the packages knex and better-sqlite3, mysql2 or pg: install them
here. Every transaction is verified and submitted to the topics that it was applied to there; the topics of this node
decide again. Then the outputs that are live there are looked for here. No node may run on the store meanwhile; a repeated
import changes nothing. Exits 1 when a transaction failed, or a live output is not here.`

const IMPORT_HELP = `
Examples:
  quoin import history.ndjson --store lmdb:./data --chain headers:https://example.com/chaintracks
  quoin import *.beef --store lmdb:./data --topic tm_mine --plugins ./mine.js
  quoin import overlay-express --help

Everything is verified, against the headers of the store unless --chain says otherwise. No node may run on the store
meanwhile. After Ctrl-C, or a crash, the same command goes on where it was: how far it is in each file is kept in the
store. What does not verify is said and passed over. Exits 1 when there was such, or when it was interrupted.`
