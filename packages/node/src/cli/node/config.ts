/** `quoin config`: the configuration that a node would have here, with nothing secret in it. */

import { EXIT, paint, print, printJson } from '@quoin/primitives/command'
import { stringify } from 'yaml'
import { configFile } from './deployment.ts'
import type { ServeOptions } from './serve.ts'
import { configOf, configuration } from './settings.ts'

export const showConfig = async (
  file: string | undefined,
  options: ServeOptions,
  json: boolean
): Promise<number> => {
  const { config: settings, deployment } = configFile(file, options['config'] as string | undefined)
  const { config, origins } = await configOf({ ...options, config: settings }, {}, deployment)
  const { shownConfig, SETTINGS } = await configuration()
  const shown = shownConfig(config) as Readonly<Record<string, unknown>>
  if (json) {
    printJson({ valid: true, config: shown, origins: Object.fromEntries(origins) })
    return EXIT.ok
  }
  const groups = new Set<string>()
  for (const { key, path, description, variable, secret } of SETTINGS) {
    const [first, inner] = path as [string, string?]
    const indent = inner === undefined ? '' : '  '
    const value = inner === undefined ? shown[first] : (shown[first] as Record<string, unknown>)[inner]
    if (inner !== undefined && !groups.has(first)) print(`${first}:`)
    groups.add(first)
    print(paint('dim', `${indent}# ${description}`))
    const origin = origins.get(key)
    const from = origin === undefined ? `not set; ${variable} sets it` : origin
    const name = inner ?? first
    const text =
      value === undefined ? `# ${name}:` : `${secret ? '# ' : ''}${name}: ${stringify(value, FLOW).trimEnd()}`
    print(`${indent}${text}${paint('dim', `  # ${from}`)}`)
  }
  return EXIT.ok
}

/** On one line each. */
const FLOW = { collectionStyle: 'flow', lineWidth: 0 } as const
