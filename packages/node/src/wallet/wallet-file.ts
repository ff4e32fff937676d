/** The state of a development wallet in a file, replaced as a whole, readable by its owner alone. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { DevWalletStorage } from '@quoin/kvstore-client/dev-wallet'
import { QuoinError, reasonOf } from '@quoin/primitives'

const OWNER_ONLY = 0o600

export const walletFile = (given: string): DevWalletStorage => {
  const path = resolve(given)
  return {
    async load() {
      try {
        return await readFile(path, 'utf8')
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw new QuoinError('ERR_FILE', `cannot read ${path}: ${reasonOf(error)}`, { path, cause: error })
      }
    },
    async save(state) {
      try {
        await mkdir(dirname(path), { recursive: true })
        await writeFile(`${path}.new`, state, { mode: OWNER_ONLY })
        await rename(`${path}.new`, path)
      } catch (error) {
        throw new QuoinError('ERR_FILE', `cannot write ${path}: ${reasonOf(error)}`, { path, cause: error })
      }
    }
  }
}
