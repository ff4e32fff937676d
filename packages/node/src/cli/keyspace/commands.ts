/** `quoin keyspace …`: the commands of the key space package, on the keyspaces that Quoin ships. */
import { outpoint, txid } from '@quoin/chain/components'
import { LAYOUT_CODECS } from '@quoin/keyspace'
import { type CommandOptions, type KeyspaceSource, keyspaceCommands } from '@quoin/keyspace/command'
import { finish } from '@quoin/primitives/command'
import type { Command } from 'commander'
import { liquidityComponents } from '../../optional-packages.ts'

const loadKeyspaces: KeyspaceSource['load'] = async () => {
  const { shippedKeyspaces, shippedStores, storeKeyspaces } = await import('../../keyspaces.ts')
  return {
    keyspaces: await shippedKeyspaces(),
    storeKeyspaces: await storeKeyspaces(),
    stores: await shippedStores()
  }
}

const EXAMPLES: Readonly<Record<string, string>> = {
  explain: `
Examples:
  quoin keyspace explain 01000000000000000105ffffffffffffff38 --space liquidity-chain
  quoin keyspace explain 7a3a73796d3a50455045
`,
  doc: '\nExample:\n  quoin keyspace doc > docs/keys.md',
  diff: '\nExample:\n  quoin keyspace diff liquidity-seed liquidity-chain'
}

export const addKeyspaceCommands = async (program: Command): Promise<void> => {
  const { tick9, denom } = (await liquidityComponents()) ?? {}
  const components = { ...(tick9 && denom && { tick9, denom }), txid, outpoint }
  const source: KeyspaceSource = { components, load: loadKeyspaces }
  const group = program
    .command('keyspace')
    .description('prove key layouts, explain raw keys')
    .addHelpText(
      'after',
      `
Examples:
  quoin keyspace check                        prove everything that Quoin ships
  quoin keyspace explain 0331                 what is this key?
  quoin keyspace audit layout.json            prove a layout of your own
  quoin keyspace diff liquidity-seed liquidity-chain`
    )
  const codecs = [...LAYOUT_CODECS, ...Object.keys(components)]
  for (const { name, about, args, options, help, run } of keyspaceCommands(codecs)) {
    const command = group.command(name).description(about)
    for (const [argument, description, optional] of args)
      command.argument(optional ? `[${argument}]` : `<${argument}>`, description)
    for (const [flags, description] of options) command.option(flags, description)
    command.addHelpText('after', `${EXAMPLES[name] ?? ''}${help}`)
    command.action(() =>
      finish(command.opts<CommandOptions>().json === true, () => run(source, command.args, command.opts()))
    )
  }
}
