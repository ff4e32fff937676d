/**
 * Packages for a plug-in, resolved from its directory and else from the directory of Quoin. A package is optional until a plug-in
 * needs it, so an error names the command that installs it.
 */
import { spawnSync } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { QuoinError } from '@quoin/primitives'

/** The processes of plug-ins have it. */
export const RESOLVE_FLAG = '--experimental-import-meta-resolve'

/** The URL of a package, as an import in a directory resolves it. */
export const resolvePackage = (name: string, directory: string): string | undefined =>
  resolveFrom(name, pathToFileURL(`${directory}/plugin.js`).href) ?? resolveFrom(name, import.meta.url)

/** Node takes a parent with a flag alone. A process without the flag asks one that has it. */
const resolveFrom = (name: string, parent: string): string | undefined => {
  if (!process.execArgv.includes(RESOLVE_FLAG)) {
    const script = 'process.stdout.write(import.meta.resolve(process.argv[1], process.argv[2]))'
    const options = [RESOLVE_FLAG, '--input-type=module', '-e', script, name, parent]
    const { status, stdout } = spawnSync(process.execPath, options, { encoding: 'utf8' })
    return status === 0 ? stdout : undefined
  }
  try {
    return import.meta.resolve(name, parent)
  } catch (error) {
    if (!isNotFound(error)) throw error
    return undefined
  }
}

export const importPackage = async (
  name: string,
  directory: string,
  purpose: string
): Promise<Readonly<Record<string, unknown>>> => {
  const url = resolvePackage(name, directory)
  if (url === undefined) throw missingPackage(name, directory, purpose)
  return (await import(url)) as Readonly<Record<string, unknown>>
}

export const missingPackage = (name: string, directory: string, purpose: string): QuoinError =>
  new QuoinError(
    'ERR_PLUGIN',
    `${purpose} needs the package ${name}: run \`npm install ${name}\` in ${directory}`,
    {
      package: name,
      directory
    }
  )

const isNotFound = (error: unknown): boolean =>
  ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND', 'ERR_PACKAGE_PATH_NOT_EXPORTED'].includes(
    (error as NodeJS.ErrnoException).code ?? ''
  )
