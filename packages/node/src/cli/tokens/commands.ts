/** `quoin token` and `quoin tokens`: the BSV21 tokens of a node. */

import { finish } from '@quoin/primitives/command'
import type { Command } from 'commander'
import { DEFAULT_URL } from '../node/http.ts'
import type { VerifyProofOptions } from './verify-proof.ts'

interface RequestOptions {
  readonly url: string
  readonly json?: boolean
}

export const addTokenCommands = (program: Command): void => {
  const token = program
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

  token
    .command('verify')
    .description('check a token proof (BRC-176, a draft) with block headers alone')
    .argument('<file>', 'a packet: bytes, hexadecimal, base64, or JSON with "beef" and "subjects"')
    .requiredOption(
      '--headers <file>',
      'headers: 80 bytes or a line of 160 digits each; or the URL of a node to ask'
    )
    .option('--from <height>', 'the height of the first header of the file', '0')
    .option('--output <outpoint...>', 'the outputs to prove; those that the packet names unless given')
    .option('--json', 'print JSON')
    .addHelpText('after', VERIFY_HELP)
    .action((file: string, _options: VerifyProofOptions, command: Command) => {
      // --json is an option of the parent command too, which takes it.
      const options = command.optsWithGlobals<VerifyProofOptions>()
      return finish(options.json ?? false, async () =>
        (await import('./verify-proof.ts')).verifyProof(file, options)
      )
    })

  program
    .command('tokens')
    .description(
      'list tokens, in the order in which they were deployed, or by the beginning of their symbols'
    )
    .option('--sym <text>', 'only those whose symbols begin with this')
    .option('--limit <n>', 'how many to show, at most 1000', '20')
    .option('--url <url>', 'the node', DEFAULT_URL)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  quoin tokens\n  quoin tokens --sym GO')
    .action(
      ({ url, json = false, ...which }: RequestOptions & { readonly sym?: string; readonly limit: string }) =>
        finish(json, async () => (await import('./tokens.ts')).listTokens(which, url, json))
    )
}

const VERIFY_HELP = `
Examples:
  curl -o proof.bin "$URL/1sat/bsv21/$ID/proof/$TXID.0"
  quoin token verify proof.bin --headers headers.bin
  quoin token verify proof.bin --headers https://node.example --json

A valid output is one that the rules of BSV21 admit, with the amount that is on its script, by transactions that are in
the blocks of these headers or whose scripts hold. That it is unspent is not proved. Exits 1 unless all are valid.`

const TOKEN_HELP = `
Examples:
  quoin token verify proof.bin --headers headers.bin
  quoin token ae59f3b898ec61acbdb6cc7a245fabeded0c094bf046f35206a3aec60ef88127_0

Exits 1 when no deployment of the token is known.`
