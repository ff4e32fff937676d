/** The import of a plug-in module; errors have the reason and the line of a syntax error. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { pluginError } from './module-exports.ts'
import type { ModuleSpec } from './module-spec.ts'
import { isTypeScript, registerTypeScript } from './typescript.ts'

export const importModule = async (
  spec: ModuleSpec,
  url: string
): Promise<Readonly<Record<string, unknown>>> => {
  if (isTypeScript(url)) await registerTypeScript(fileURLToPath(url), spec.compilerOptions)
  try {
    return (await import(url)) as Readonly<Record<string, unknown>>
  } catch (error) {
    throw pluginError(spec, `cannot be loaded: ${loadReason(error, url)}`, error)
  }
}

/** The error of a module, with the line of a syntax error, which Node prints on the command line alone. */
const loadReason = (error: unknown, url: string): string => {
  if (!(error instanceof Error)) return String(error)
  if (!(error instanceof SyntaxError) || !/^file:.*\.[cm]?js$/.test(url)) return error.message
  const { status, stderr } = spawnSync(process.execPath, ['--check', fileURLToPath(url)], {
    encoding: 'utf8'
  })
  return status === 0 ? error.message : `${error.message} (${stderr.split('\n', 1)[0]})`
}
