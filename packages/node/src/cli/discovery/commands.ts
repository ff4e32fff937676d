/** `quoin advertise`: the advertisements of a node's topics and lookup services. */
import { finish } from '@quoin/primitives/command'
import type { Command } from 'commander'
import { WALLET_OPTION } from '../kv/wallet-option.ts'
import { DEFAULT_URL } from '../node/http.ts'
import type { AdvertiseOptions } from './advertise.ts'

export const addDiscoveryCommands = (program: Command): void => {
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
      .option(...WALLET_OPTION)
      .option('--json', 'print JSON')
      .action((options: AdvertiseOptions) =>
        finish(options.json ?? false, async () => (await import('./advertise.ts')).advertise(name, options))
      )
  command('status', 'say what is advertised, and what is missing; exits 1 unless it is what the node serves')
  command('sync', 'advertise what is missing, and revoke what the node serves no more')
  command('revoke', 'revoke all advertisements of the wallet for the address')
}

const HELP = `
Examples:
  quoin advertise status --uri https://node.example.com --wallet http://localhost:3321
  quoin advertise sync --uri https://node.example.com --wallet http://localhost:3321
  quoin advertise sync --uri https://node.example.com --to https://tracker.example.com
  quoin advertise revoke --uri https://node.example.com

Each advertisement is an output of 1 satoshi that the wallet pays for, signed with its identity key. The node takes them
in tm_ship and tm_slap; --to sends them to trackers that clients ask, too. The address is https, with a host name that is
not localhost (BRC-101). A name is advertised if it is lower-case words with underscores between them (BRC-87): tm_bsv21 and
the topics of single tokens have digits. Give a plug-in another name with [name=]module, or tell clients the address.`
