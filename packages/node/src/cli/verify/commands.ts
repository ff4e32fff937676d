/** `quoin verify` and `quoin repair`. */

import { finish } from '@quoin/primitives/command'
import type { Command } from 'commander'
import type { AgainstCommand } from './against.ts'
import { type RepairCommand, repair } from './repair.ts'
import { type VerifyCommand, verify } from './verify.ts'

const STORES = 'the store, for example lmdb:./data'
const TEMP = 'directory for the temporary index, which takes about as much disk as the store'

export const addVerifyCommands = (program: Command): void => {
  program
    .command('verify')
    .description('check proofs, BEEFs, admissions, spends and the index of a store against its transactions')
    .argument('<store>', `${STORES}; with --against also the address of a node`)
    .option('--temp <dir>', TEMP)
    .option('--against <url>', 'compare the tokens with those of the node at this address instead')
    .option('--after <token>', 'with --against: go on after this token')
    .option('--limit <n>', 'findings to list at most; all are counted', '1000')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  quoin verify lmdb:./data
  quoin verify lmdb:./data --against https://other.example
  quoin verify https://one.example --against https://other.example --json
  quoin verify redis://localhost:6379 --json
  quoin verify lmdb:./data --temp /mnt/scratch     where the system's temporary directory is small

The index is rebuilt from the transactions into a temporary store on disk, and compared row by row: it takes the same
memory however large the store is. A file is read as it is at one moment, beside the node that writes to it, and nothing
is changed; on Redis, stop writers or run it again when it finds something. Exits 1 when there are findings.

With --against, two nodes are compared token by token, by digests of their outputs, spenders, sums and holders; of a token
that differs, the first outputs that differ are named. Tokens that one node alone indexes are counted, and no finding.

Every finding has a kind, such as proof-root or index-missing (docs/verify-and-repair.md has them all). Next:
  quoin repair lmdb:./data --dry-run               what can be mended?
  quoin store verify lmdb:./data                   are the rows of the database itself whole?`
    )
    .action((url: string, options: VerifyCommand & Partial<AgainstCommand>) =>
      finish(options.json ?? false, async () => {
        const { against } = options
        if (against === undefined) return verify(url, options)
        return (await import('./against.ts')).verifyAgainst(url, { ...options, against })
      })
    )

  program
    .command('repair')
    .description('mend in place what quoin verify finds, from the transactions in the store')
    .argument('<store>', STORES)
    .option('--dry-run', 'say what would be mended, and change nothing')
    .option('--temp <dir>', TEMP)
    .option('--limit <n>', 'findings to list at most; all are counted', '1000')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  quoin repair lmdb:./data --dry-run
  quoin repair lmdb:./data
  quoin repair redis://localhost:6379 --json

Rows that do not follow from the transactions are deleted, and missing ones are written. Each batch holds only while
the records that its rows follow from are as they were read, so a node may serve meanwhile (LevelDB lets one process
in), and a repair that was killed is run again. A raw transaction that is missing or damaged cannot be derived: the
report names it, and you submit it again or restore a backup. Exits 1 when something is left.

Make a backup first: quoin backup lmdb:./data ./backup`
    )
    .action((url: string, options: RepairCommand) =>
      finish(options.json ?? false, () => repair(url, options))
    )
}
