/** The file that `quoin serve` and `quoin dev` take as an argument: settings in YAML, or a project of BRC-102. */
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { QuoinError } from '@quoin/primitives'
import type { LoadedDeployment } from '../../server/index.ts'

export interface ConfigFile {
  /** A YAML file with settings. */
  readonly config?: string
  /** A deployment file. */
  readonly deployment?: string
}

/** By the name of the file: BRC-102 is JSON. */
export const configFile = (file: string | undefined, config: string | undefined): ConfigFile => {
  if (file === undefined) return config === undefined ? {} : { config }
  if (/\.json$/i.test(file)) return { deployment: file, ...(config !== undefined && { config }) }
  if (config === undefined) return { config: file }
  throw new QuoinError('ERR_USAGE', `two files with settings: ${file} and --config ${config}; expected one`, {
    file,
    config
  })
}

const DEFAULT_FILE = 'deployment-info.json'

/** The project of the working directory, unless a file is named. */
export const projectFile = (file: string | undefined): string | undefined =>
  file ?? (existsSync(DEFAULT_FILE) ? DEFAULT_FILE : undefined)

/** Rows on a project for the table that a node prints: variables, and parts that are not served. */
export const deploymentRows = (deployment: LoadedDeployment | undefined): [string, string][] => {
  if (!deployment) return []
  const { info, variables } = deployment
  return [
    ['  project', basename(info.path)],
    ...variables.map(({ variable, setting, reason }): [string, string] => [
      '  variable',
      setting === undefined ? `${variable} is not used: ${reason}` : `${variable} sets ${setting}`
    ]),
    ...info.notServed.map((part): [string, string] => ['  not served', part])
  ]
}
