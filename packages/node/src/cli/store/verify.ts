/** `quoin store verify`: compares a backup with its manifest, or checks every row of a store. */
import { hasCode } from '@quoin/primitives'
import { count, EXIT, paint, plural, print, printJson } from '@quoin/primitives/command'
import type { InspectedRow } from '@quoin/store'
import { progressOn } from '../verify/progress.ts'
import { store, summary, watched } from './work.ts'

/** Rows that are listed; all are counted. */
const LISTED = 1000

export const verify = (target: string, json: boolean): Promise<number> =>
  /^(lmdb|level):/.test(target) ? verifyStore(target, json) : verifyBackupIn(target, json)

const verifyStore = async (url: string, json: boolean): Promise<number> => {
  const { inspectStore } = await store()
  const progress = progressOn(process.stderr.isTTY === true)
  const listed: InspectedRow[] = []
  try {
    const { rows, damaged, faults } = await inspectStore(url, {
      onProgress: (done, total) => progress.report('reading, rows', done, total),
      onDamage: row => {
        if (listed.length === LISTED) return
        listed.push(row)
        progress.clear()
        if (!json) print(`${paint('bold', row.collection)}  ${row.row}\n  ${SAID[row.fault]}`)
      }
    })
    progress.clear()
    const valid = damaged + faults.length === 0
    if (json) printJson({ store: url, valid, rows, damaged, faults, listed })
    else {
      for (const fault of faults) print(fault)
      const outcome = valid
        ? paint('green', 'valid')
        : paint('red', `not valid: ${plural(damaged, 'damaged row')}`)
      print(`${url}: ${outcome}, ${count(rows)} rows read`)
      if (!valid) print('Restore a backup (quoin store restore), or see docs/verify-and-repair.md')
    }
    return valid ? EXIT.ok : EXIT.no
  } finally {
    progress.clear()
  }
}

const SAID: Readonly<Record<InspectedRow['fault'], string>> = {
  checksum: 'its checksum does not fit',
  order: 'it lies out of the order of the keys',
  unreachable: 'a walk finds it, and a read by its key does not'
}

const verifyBackupIn = async (directory: string, json: boolean): Promise<number> => {
  const { verifyBackup } = await store()
  try {
    const backup = await watched(options => verifyBackup(directory, options))
    if (json) printJson({ directory, valid: true, ...backup })
    else print(`${directory}: ${paint('green', 'valid')}, ${summary(backup)}`)
    return EXIT.ok
  } catch (error) {
    if (!hasCode(error, 'ERR_STORE_CORRUPT')) throw error
    if (json) printJson({ directory, valid: false, reason: error.message, ...error.details })
    else print(`${directory}: ${paint('red', 'not valid')}: ${error.message}`)
    return EXIT.no
  }
}
