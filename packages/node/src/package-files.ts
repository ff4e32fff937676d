/** The files of the package beside its code: this module is one folder below the package in any form of the code. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

/** The built explorer. */
export const EXPLORER_FOLDER = fileURLToPath(new URL('../dist/explorer/', import.meta.url))
