/** `quoin store backup`: a copy of one state, read back. */
import { EXIT, print, printJson } from '@quoin/primitives/command'
import { store, summary, watched } from './work.ts'

export const backup = async (url: string, directory: string, json: boolean): Promise<number> => {
  const { openStore, readBackup, readOnlyUrl } = await store()
  const opened = await openStore(readOnlyUrl(url), { create: false })
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
