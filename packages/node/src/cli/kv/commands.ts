/** `quoin kv` and `quoin dev-wallet`: the key-value store in the terminal, and a wallet to develop with. */
import { finish } from '@quoin/primitives/command'
import type { Command } from 'commander'
import { DEFAULT_URL } from '../node/http.ts'
import type { DevWalletCommandOptions } from './dev-wallet.ts'
import type { KvOptions, ListOptions, SetOptions } from './kv.ts'
import { WALLET_OPTION } from './wallet-option.ts'

/** Where `HTTPWalletJSON` of @bsv/sdk looks for a wallet. */
const WALLET_PORT = '3321'

export const addKvCommands = (program: Command): void => {
  const group = program
    .command('kv')
    .description('set, get, list and remove entries of the key-value store (BRC-35) of a node')
    .addHelpText('after', KV_HELP)

  const command = (name: string, about: string): Command =>
    group
      .command(name)
      .description(about)
      .option('--url <url>', 'the node', DEFAULT_URL)
      .option(...WALLET_OPTION)
      .option('--protocol <json>', 'the protocol of the entry', '[1,"kvstore"]')
      .option('--json', 'print JSON')

  command('set', 'create or update an entry of the wallet')
    .argument('<key>')
    .argument('<value>')
    .option('--tag <tag...>', 'tags of the entry')
    .action((key: string, value: string, options: SetOptions) =>
      finish(options.json ?? false, async () => (await import('./kv.ts')).set(key, value, options))
    )
  command('get', 'print the value of an entry; exits 1 when there is none')
    .argument('<key>')
    .option('--controller <hex>', 'who controls it; the wallet unless given')
    .action((key: string, options: KvOptions) =>
      finish(options.json ?? false, async () => (await import('./kv.ts')).get(key, options))
    )
  command('list', 'print live entries; those of the wallet unless something is given to select by')
    .option('--key <key>', 'entries of this key')
    .option('--controller <hex>', 'entries of this controller')
    .option('--tag <tag...>', 'entries with these tags')
    .option('--any', 'with any of the tags, not all')
    .option('--limit <n>', 'how many to show', '50')
    .action((options: ListOptions) =>
      finish(options.json ?? false, async () => (await import('./kv.ts')).list(options))
    )
  command('history', 'print all values of an entry, the oldest first; exits 1 when there is none')
    .argument('<key>')
    .option('--controller <hex>', 'who controls it; the wallet unless given')
    .action((key: string, options: KvOptions) =>
      finish(options.json ?? false, async () => (await import('./kv.ts')).history(key, options))
    )
  command('rm', 'delete an entry of the wallet; exits 1 when there is none')
    .argument('<key>')
    .action((key: string, options: KvOptions) =>
      finish(options.json ?? false, async () => (await import('./kv.ts')).remove(key, options))
    )

  program
    .command('dev-wallet')
    .description('serve a BRC-100 wallet with coins of a development chain, until Ctrl-C')
    .option('--url <url>', 'the node, with the chain dev', DEFAULT_URL)
    .option('--port <number>', 'the port to listen on, on this machine only', WALLET_PORT)
    .option('--file <path>', 'where to keep its key and outputs; otherwise they are gone at the end')
    .option('--json', 'print what it listens on as JSON')
    .addHelpText('after', WALLET_HELP)
    .action((options: DevWalletCommandOptions) =>
      finish(options.json ?? false, async () => (await import('./dev-wallet.ts')).serveDevWallet(options))
    )
}

const KV_HELP = `
Examples, beside quoin demo:
  quoin kv set profile.name Ty --tag profile public
  quoin kv get profile.name
  quoin kv list --tag profile
  quoin kv history profile.name
  quoin kv rm profile.name
  quoin kv set name Ty --wallet http://localhost:3321     with the wallet of another program

The node has to run with a development chain (quoin demo, quoin serve) unless --wallet is a URL: the development wallet
pays with coins of that chain. Its file holds a private key, readable by its owner alone. Exits 1 when there is no entry.`

const WALLET_HELP = `
Examples, beside quoin demo:
  quoin dev-wallet                        new WalletClient() of @bsv/sdk finds it on this machine
  quoin dev-wallet --file wallet.json     the same wallet after a restart

Every program and page on this machine may use the wallet; its coins are worth nothing. It has no certificates and no
list of actions.`
