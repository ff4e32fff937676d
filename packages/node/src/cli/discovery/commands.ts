/** `quoin advertise`: the advertisements of a node's topics and lookup services. */
import { finish } from '@quoin/primitives/command'
import type { Command } from 'commander'
import { WALLET_OPTION } from '../kv/wallet-option.ts'
import { DEFAULT_URL } from '../node/http.ts'
import type { AdvertiseOptions } from './advertise.ts'
import type { BanOptions, HostsOptions } from './hosts.ts'

export const addDiscoveryCommands = (program: Command): void => {
  addAdvertiseCommand(program)
  addHostsCommand(program)
}

const addAdvertiseCommand = (program: Command): void => {
  const group = program
    .command('advertise')
    .description(
      'advertise the topics and lookup services of a node by SHIP and SLAP, so that clients find it'
    )
    .addHelpText('after', HELP)
  const command = (name: 'status' | 'sync' | 'revoke', about: string): Command =>
    group
      .command(name)
      .description(about)
      .requiredOption('--uri <uri>', 'the public address of the node, https://…')
      .option('--url <url>', 'the node', DEFAULT_URL)
      .option('--to <url...>', 'more nodes that take the advertisements')
      .option('--tracker', 'advertise tm_ship, tm_slap, ls_ship and ls_slap too')
      .option(...WALLET_OPTION)
      .option('--json', 'print JSON')
      .action((options: AdvertiseOptions) =>
        finish(options.json ?? false, async () => (await import('./advertise.ts')).advertise(name, options))
      )
  command('status', 'say what is advertised, and what is missing; exits 1 unless it is what the node serves')
  command('sync', 'advertise what is missing, and revoke what the node serves no more')
  command('revoke', 'revoke all advertisements of the wallet for the address')
}

const TOKEN = ['--token <token>', 'the adminToken of the node (QUOIN_ADMIN_TOKEN)'] as const

const addHostsCommand = (program: Command): void => {
  const shared = (command: Command): Command =>
    command
      .option('--url <url>', 'the node', DEFAULT_URL)
      .option(...TOKEN)
      .option('--json', 'print JSON')
  const group = shared(
    program
      .command('hosts')
      .description(
        'say how the hosts do that others advertise at a node, and which are banned; exits 1 when one is down'
      )
  )
    .addHelpText('after', HOSTS_HELP)
    .action((options: HostsOptions) =>
      finish(options.json ?? false, async () => (await import('./hosts.ts')).showHosts(options))
    )
  // The group takes the options that it has, too, wherever they stand.
  shared(group.command('check').description('ask each advertised host for its health')).action(
    (_: unknown, command: Command) => {
      const options = command.optsWithGlobals<HostsOptions>()
      return finish(options.json ?? false, async () => (await import('./hosts.ts')).checkHosts(options))
    }
  )
  shared(
    group
      .command('ban')
      .description('leave a host, or one advertisement, out of the answers of the node')
      .argument('<host>', 'a URI as https://spam.example.com, a host name, or an outpoint')
      .option('--reason <text>', 'why, for other operators')
  ).action((host: string, _: unknown, command: Command) => {
    const options = command.optsWithGlobals<BanOptions>()
    return finish(options.json ?? false, async () => (await import('./hosts.ts')).banHost(host, options))
  })
  shared(
    group
      .command('unban')
      .description('lift a ban; exits 1 when there was none')
      .argument('<host>', 'as it was banned')
  ).action((host: string, _: unknown, command: Command) => {
    const options = command.optsWithGlobals<HostsOptions>()
    return finish(options.json ?? false, async () => (await import('./hosts.ts')).unbanHost(host, options))
  })
}

const HOSTS_HELP = `
Examples:
  quoin hosts                                          asks http://localhost:8080, with QUOIN_ADMIN_TOKEN
  quoin hosts check
  quoin hosts ban https://spam.example.com --reason spam
  quoin hosts unban spam.example.com

A node asks the hosts that are advertised in its tm_ship and tm_slap for their /health when janitor.interval is set, or
when quoin hosts check tells it to. Hosts that fail three checks in a row are left out of its answers until one succeeds,
and so are banned hosts, in any spelling and for any scheme. Addresses that are not of the public internet are not
connected to unless privateHosts is true.`

const HELP = `
Examples:
  quoin advertise status --uri https://node.example.com --wallet http://localhost:3321
  quoin advertise sync --uri https://node.example.com --wallet http://localhost:3321
  quoin advertise sync --uri https://node.example.com --to https://tracker.example.com
  quoin advertise revoke --uri https://node.example.com

Each advertisement is an output of 1 satoshi that the wallet pays for, signed with its identity key. The node takes them
in tm_ship and tm_slap; --to sends them to trackers that clients ask, too. The address is https, with a host name that is
not localhost (BRC-101). A name is advertised if it is lower-case words with underscores between them (BRC-87): tm_bsv21 and
the topics of single tokens have digits. Give a plug-in another name with [name=]module, or tell clients the address.

A node does the same by itself, and renews what trackers lose, with --advertise-uri, --advertise-wallet and --advertise-to of
quoin serve.`
