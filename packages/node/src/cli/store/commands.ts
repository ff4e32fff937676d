/** `quoin store …`: arguments, options and help of its commands. */

import { finish } from '@quoin/primitives/command'
import type { Command } from 'commander'
import { backup } from './backup.ts'
import { restore } from './restore.ts'
import { stats } from './stats.ts'
import { verify } from './verify.ts'

interface Json {
  readonly json?: boolean
}

export const addStoreCommands = (program: Command): void => {
  const group = program
    .command('store')
    .description('look into a store, back it up, restore it')
    .addHelpText(
      'after',
      `
Examples:
  quoin store stats lmdb:./data                     how large is it, and what does it run on?
  quoin store backup lmdb:./data ./backup           copy it, beside the process that writes to it
  quoin store verify ./backup                       read the copy and compare
  quoin store verify lmdb:./data                    read every row and check its checksum
  quoin store restore ./backup lmdb:./restored      make a store of it, of either kind

Stores: lmdb:PATH, level:PATH; stats also redis://HOST:PORT`
    )

  group
    .command('stats')
    .description('say how large a store is, and what it runs on')
    .argument('<url>', 'the store, for example lmdb:./data')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  quoin store stats lmdb:./data
  quoin store stats redis://localhost:6379 --json`
    )
    .action((url: string, { json = false }: Json) => finish(json, () => stats(url, json)))

  addBackup(group, 'quoin store backup')

  group
    .command('verify')
    .description('read every row of a store, or of a backup, and report damage')
    .argument('<target>', 'the store (lmdb:PATH, level:PATH), or the directory of a backup')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  quoin store verify lmdb:./data
  quoin store verify ./backup

Of a store, every row is read: its checksum, the order of keys, whether a read by key finds it, and whether there are as
many as the database says. Each damaged row is reported with its collection and key, to the end. A process of its own
reads, so that a page that makes LMDB crash is reported too. A node may write to an LMDB store meanwhile; LevelDB lets one
process in. Of a backup, the rows are compared with its manifest. Exits 1 when something is damaged.

Whether the rows say the right thing: quoin verify lmdb:./data`
    )
    .action((target: string, { json = false }: Json) => finish(json, () => verify(target, json)))

  addRestore(group, 'quoin store restore')
  // The commands that operators use most have a short name too.
  addBackup(program, 'quoin backup')
  addRestore(program, 'quoin restore')
}

const addBackup = (parent: Command, name: string): void => {
  parent
    .command('backup')
    .description('copy one state of a store into a new directory, and read the copy back')
    .argument('<url>', 'the store: lmdb:PATH, level:PATH')
    .argument('<directory>', 'where the copy goes; it must be new or empty')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Example:
  ${name} lmdb:./data ./backup-2025-01-31

A backup is a store itself, with a backup.json that says what it holds and is written last. An LMDB store may be
written to meanwhile; a LevelDB store must not be open in another process. When it fails or is interrupted, nothing
is left of it, and the store is as it was.`
    )
    .action((url: string, directory: string, { json = false }: Json) =>
      finish(json, () => backup(url, directory, json))
    )
}

const addRestore = (parent: Command, name: string): void => {
  parent
    .command('restore')
    .description('verify a backup, and make a new store of it')
    .argument('<directory>', 'the backup')
    .argument('<url>', 'the new store: lmdb:PATH or level:PATH; the directory must be new or empty')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  ${name} ./backup lmdb:./data
  ${name} ./backup level:./data      a backup of either kind, into either kind

When it fails or is interrupted, nothing is left of the new store.`
    )
    .action((directory: string, url: string, { json = false }: Json) =>
      finish(json, () => restore(directory, url, json))
    )
}
