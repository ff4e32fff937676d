/** `quoin init` and `quoin doctor`: their arguments, options and help. */
import { finish } from '@quoin/primitives/command'
import type { Command } from 'commander'
import { addSettings } from '../node/settings.ts'
import type { DoctorOptions } from './doctor.ts'
import type { InitOptions } from './init.ts'

/** Other commands do not load the settings. */
const hasSettings = (name: string): boolean => process.argv.includes(name)

export const addOperateCommands = async (program: Command): Promise<void> => {
  const init = program
    .command('init')
    .description('write a file of settings for a network, and check the services that it names')
    .argument('[network]', 'mainnet, testnet or development')
    .option('--file <path>', 'the file to write', 'quoin.yaml')
    .option('--force', 'replace the file if it exists')
    .option('--no-check', 'check nothing, and ask no service')
    .option('--json', 'print JSON, and ask no question')
    .addHelpText('after', INIT_HELP)
    .action((network: string | undefined, options: InitOptions) =>
      finish(options.json ?? false, async () => (await import('./init.ts')).init(network, options))
    )
  if (hasSettings('init'))
    await addSettings(init, ['store', 'chain', 'host', 'port', 'backups', 'trustProxy'])

  const doctor = program
    .command('doctor')
    .description(
      'check the machine, the store and the services of a node, and say what to do; exits 1 on an error'
    )
    .argument('[file]', 'settings in YAML, or a deployment-info.json')
    .option('--uri <uri>', 'the public address of the node, to be checked from here')
    .option('--json', 'print JSON')
    .addHelpText('after', DOCTOR_HELP)
    .action((file: string | undefined, { json, ...options }: DoctorOptions & { json?: boolean }) =>
      finish(json ?? false, async () => (await import('./doctor.ts')).doctor(file, options, json ?? false))
    )
  if (hasSettings('doctor')) await addSettings(doctor, ['store', 'chain', 'peers', 'backups'])
}

const INIT_HELP = `
Examples:
  quoin init                                                      asks, on a terminal
  quoin init mainnet --chain headers:https://HOST/1sat/chaintracks
  quoin init testnet --chain block-headers:https://HOST --file /etc/quoin/quoin.yaml --no-check
  quoin init development

Every option of quoin serve is one here, and is written to the file; all other settings are in it as comments, with their
defaults. On mainnet and testnet the file has a new admin token, and only its owner can read it. Then the machine and the
services are checked as quoin doctor does. Exits 1 when that finds an error; the file is written all the same.`

const DOCTOR_HELP = `
Examples:
  quoin doctor quoin.yaml
  quoin doctor quoin.yaml --uri https://node.example.com
  quoin doctor --store lmdb:./data --json

It takes the options of quoin serve, and can run beside the node. Checked are the configuration, the library that verifies
signatures, open files, memory, free disk, the port, the store and its version, backups, the services and peers that the
configuration names, the clock by their answers, and the public address. An error keeps the node from working as
configured, a warning does not. Exits 1 when there is an error, 2 on wrong usage.`
