/** `quoin store restore`: a new store from a backup. */
import { EXIT, print, printJson } from '@quoin/primitives/command'
import { store, summary, watched } from './work.ts'

export const restore = async (directory: string, url: string, json: boolean): Promise<number> => {
  const { restore: restoreBackup } = await store()
  const restored = await watched(options => restoreBackup(directory, url, options))
  if (json) printJson({ url, from: { directory, ...restored } })
  else print(`${url}: ${summary(restored)}`)
  return EXIT.ok
}
