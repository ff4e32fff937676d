/** `quoin store verify`: whether a backup is what it says. */
import { QuoinError } from '../../keyspace/index.ts'
import { EXIT } from '../exit.ts'
import { paint, print, printJson } from '../terminal.ts'
import { store, summary, watched } from './work.ts'

export const verify = async (directory: string, json: boolean): Promise<number> => {
  const { verifyBackup } = await store()
  try {
    const backup = await watched(options => verifyBackup(directory, options))
    if (json) printJson({ directory, valid: true, ...backup })
    else print(`${directory}: ${paint('green', 'valid')}, ${summary(backup)}`)
    return EXIT.ok
  } catch (error) {
    if (!(error instanceof QuoinError) || error.code !== 'ERR_STORE_CORRUPT') throw error
    if (json) printJson({ directory, valid: false, reason: error.message, ...error.details })
    else print(`${directory}: ${paint('red', 'not valid')}: ${error.message}`)
    return EXIT.no
  }
}
