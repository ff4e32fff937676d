/** The settings of a node as options of a command: each as it is declared, so that the help cannot differ. */
import { type Command, Option } from 'commander'

/** The whole node: loaded when a command needs it. */
export const server = () => import('../../server/index.ts')

/** The settings of a node without the node: a mistake is reported before the rest is loaded. */
export const configuration = async () => ({
  ...(await import('../../server/config.ts')),
  ...(await import('../../server/settings.ts'))
})

type Given = Readonly<Record<string, string | readonly string[] | undefined>>

/** Adds `--config` and an option for every setting; `shown` are in the help, the others only work. */
export const addSettings = async (command: Command, shown?: readonly string[]): Promise<Command> => {
  const { SETTINGS } = await configuration()
  command.option('--config <file>', 'a YAML file with settings (QUOIN_CONFIG)')
  for (const { key, option, argument, description, variable, schema, secret, ...setting } of SETTINGS) {
    const fallback = setting.default
    const isPlain = typeof fallback === 'string' || typeof fallback === 'number'
    const about = isPlain
      ? `${description} (${variable}, default ${fallback})`
      : `${description} (${variable})`
    const isFlag = schema['type'] === 'boolean'
    const made = new Option(`${option} ${isFlag ? `[${argument}]` : `<${argument}>`}`, about)
    if (isFlag) made.preset('true')
    // Of several options of one name all count, where there can be several.
    if (typeof fallback === 'object' || schema['type'] === 'array' || key === 'index') {
      made.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value])
    }
    command.addOption(shown && !shown.includes(key) ? made.hideHelp() : made)
  }
  return command
}

/** The configuration that the options, the environment and a file come to. */
export const configOf = async (options: Given, more: Given = {}, deployment?: string) => {
  const { loadConfig, SETTINGS } = await configuration()
  const given = SETTINGS.flatMap(({ key, option }) => {
    const value = options[attributeOf(option)] ?? more[key]
    return value === undefined ? [] : [[key, value] as const]
  })
  return loadConfig({
    file: options['config'] as string | undefined,
    deployment,
    environment: process.env,
    options: Object.fromEntries(given)
  })
}

/** The property that commander gives an option: `--limits-body` is limitsBody. */
const attributeOf = (option: string): string =>
  option.slice(2).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
