/** `quoin store backup`: a copy of one state, read back. */
import { EXIT } from '../exit.ts'
import { existing } from '../store-url.ts'
import { print, printJson } from '../terminal.ts'
import { store, summary, watched } from './work.ts'

export const backup = async (url: string, directory: string, json: boolean): Promise<number> => {
  const { openStore, readBackup } = await store()
  const opened = await openStore(existing(url), { create: false })
  try {
    await watched(options => opened.backup(directory, options))
  } finally {
    await opened.close()
  }
  const made = await readBackup(directory)
  if (json) printJson({ directory, ...made })
  else print(`${directory}: ${summary(made)}`)
  return EXIT.ok
}
