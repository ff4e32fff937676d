/** `quoin token` and `quoin tokens`: the BSV21 tokens of a node. */

import { finish } from '@quoin/primitives/command'
import type { Command } from 'commander'
import { DEFAULT_URL } from '../node/http.ts'

interface RequestOptions {
  readonly url: string
  readonly json?: boolean
}

export const addTokenCommands = (program: Command): void => {
  program
    .command('token')
    .description('say what a token is, what there is of it, who has the most, and whether it is indexed')
    .argument('<id>', 'the outpoint of its deployment: txid_vout')
    .option('--holders <n>', 'how many holders to show', '10')
    .option('--url <url>', 'the node', DEFAULT_URL)
    .option('--json', 'print JSON')
    .addHelpText('after', TOKEN_HELP)
    .action((id: string, { url, json = false, holders }: RequestOptions & { readonly holders: string }) =>
      finish(json, async () => (await import('./token.ts')).showToken(id, holders, url, json))
    )

  program
    .command('tokens')
    .description(
      'list tokens, in the order in which they were deployed, or by the beginning of their symbols'
    )
    .option('--sym <text>', 'only those whose symbols begin with this')
    .option('--limit <n>', 'how many to show, at most 100', '20')
    .option('--url <url>', 'the node', DEFAULT_URL)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  quoin tokens\n  quoin tokens --sym GO')
    .action(
      ({ url, json = false, ...which }: RequestOptions & { readonly sym?: string; readonly limit: string }) =>
        finish(json, async () => (await import('./tokens.ts')).listTokens(which, url, json))
    )
}

const TOKEN_HELP = `
Example:
  quoin token ae59f3b898ec61acbdb6cc7a245fabeded0c094bf046f35206a3aec60ef88127_0

Exits 1 when no deployment of the token is known.`
