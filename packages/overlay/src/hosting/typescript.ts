/**
 * TypeScript modules, run by `tsx` as CARS and LARS run them, with the `tsconfig.json` of the plug-in: contracts have
 * decorators. Without tsx, a version of Node that strips types by itself runs modules that have nothing but types.
 */
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, parse, relative } from 'node:path'
import { importPackage, missingPackage, resolvePackage } from './packages.ts'

export const isTypeScript = (path: string): boolean => /\.[cm]?tsx?$/.test(path)

export const registerTypeScript = async (
  path: string,
  compilerOptions?: Readonly<Record<string, unknown>>
): Promise<void> => {
  const directory = dirname(path)
  const purpose = `TypeScript (${path})`
  if (resolvePackage('tsx/esm/api', directory) === undefined) {
    if ('typescript' in process.features && process.features.typescript) return
    throw missingPackage('tsx', directory, purpose)
  }
  if (compilerOptions === undefined) return register(nearest(directory, 'tsconfig.json'), directory, purpose)
  const temporary = await mkdtemp(join(tmpdir(), 'quoin-tsconfig-'))
  try {
    const tsconfig = join(temporary, 'tsconfig.json')
    // A tsconfig.json is about the files that it includes, and this one is not above them.
    const include = [`${relative(temporary, parse(temporary).root)}/**/*`]
    await writeFile(tsconfig, JSON.stringify({ compilerOptions, include }))
    await register(tsconfig, directory, purpose)
  } finally {
    await rm(temporary, { recursive: true })
  }
}

const register = async (tsconfig: string | undefined, directory: string, purpose: string): Promise<void> => {
  // Modules that are required get it from the environment, modules that are imported from the options.
  if (tsconfig !== undefined) process.env['TSX_TSCONFIG_PATH'] = tsconfig
  for (const api of ['tsx/cjs/api', 'tsx/esm/api']) {
    const { register: load } = await importPackage(api, directory, purpose)
    ;(load as (options: object) => unknown)(tsconfig === undefined ? {} : { tsconfig })
  }
}

/** The file of this name in a directory or the closest one above it. */
const nearest = (directory: string, name: string): string | undefined => {
  const path = join(directory, name)
  if (existsSync(path)) return path
  const parent = dirname(directory)
  return parent === directory ? undefined : nearest(parent, name)
}
