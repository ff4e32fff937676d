/** Checks of the store: whether it opens, the version of its layouts, and its backups. */
import { existsSync } from 'node:fs'
import { hasCode } from '@quoin/primitives'
import { bytes } from '@quoin/primitives/command'
import { checkLayouts, openStore, parseFilesUrl, readOnlyUrl, type Store } from '@quoin/store'
import { nodeStore } from '../../keyspaces.ts'
import { newestBackup } from '../../server/disk.ts'
import { withoutPassword } from '../../server/secrets.ts'
import { portState } from './check-machine.ts'
import { type Check, type Diagnosis, failure, ok, type Subject, warning } from './diagnosis.ts'

const HOUR_MS = 3_600_000
/** A daily backup that was late. */
const BACKUP_MS = 26 * HOUR_MS

const store: Check = {
  name: 'store',
  async run({ config }) {
    const shown = withoutPassword(config.store)
    const path = parseFilesUrl(config.store)?.path
    if (config.store === 'memory:') {
      const remedy = 'set store to lmdb:PATH, unless the node is for tests'
      return [warning('store', 'memory: keeps nothing when the node ends', remedy)]
    }
    if (path !== undefined && !existsSync(path)) return [ok('store', `${shown} will be created`)]
    // LevelDB has one process.
    const isRunning = (await portState(config.host, config.port)) === 'node'
    if (config.store.startsWith('level:') && isRunning) return [ok('store', `${shown} is open in the node`)]
    return [await opened(config.store, shown)]
  }
}

const opened = async (url: string, shown: string): Promise<Diagnosis> => {
  let found: Store
  try {
    found = await openStore(readOnlyUrl(url), { create: false })
  } catch (error) {
    return storeFailure(error, url, shown)
  }
  try {
    await checkLayouts(found, nodeStore().members)
    const { bytes: size, details } = await found.stats()
    const { warning: lossy } = details
    if (typeof lossy === 'string')
      return warning('store', `${shown}: ${lossy}`, 'docs/scale.md says how to set the server')
    return ok('store', `${shown}, ${bytes(size)}, of this version`)
  } catch (error) {
    return storeFailure(error, url, shown)
  } finally {
    await found.close()
  }
}

const storeFailure = (error: unknown, url: string, shown: string): Diagnosis => {
  if (hasCode(error, 'ERR_STORE_UPGRADE'))
    return failure(
      'store',
      `${shown} was written by an earlier version`,
      `end the node, then run quoin upgrade ${withoutPassword(url)}`
    )
  if (hasCode(error, 'ERR_STORE_VERSION'))
    return failure('store', `${shown} was written by a later version`, 'update Quoin')
  const reason = error instanceof Error ? error.message : String(error)
  return failure(
    'store',
    `${shown} cannot be opened: ${reason}`,
    'start its server, or set store to the place where it is'
  )
}

const backups: Check = {
  name: 'backups',
  async run({ config }: Subject) {
    if (parseFilesUrl(config.store) === undefined)
      return config.store === 'memory:'
        ? []
        : [ok('backups', 'a store on a server is backed up with the means of the server')]
    if (config.chain === 'dev') return [ok('backups', 'not needed for a development chain')]
    if (config.backups === undefined) {
      const remedy = 'set backups to a directory, best on another disk, and see docs/operate/back-up.md'
      return [warning('backups', 'no directory is set', remedy)]
    }
    const newest = await newestBackup(config.backups)
    const remedy = 'run quoin store backup, or POST /admin/backup, each day'
    if (!newest) return [warning('backups', `none in ${config.backups}`, remedy)]
    const age = Date.now() - Date.parse(newest.time)
    const message = `the newest is ${newest.name}, ${Math.round(age / HOUR_MS)} hours old`
    return [age <= BACKUP_MS ? ok('backups', message) : warning('backups', message, remedy)]
  }
}

export const STORE_CHECKS: readonly Check[] = [store, backups]
