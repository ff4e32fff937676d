/**
 * Opens a store, commits batches and closes it, once for each fault: `node failing.mjs KIND ROOT FIRST COUNT
 * FAULT...`. A fault is an order to shim.c, or `none`. Prints the numbers of acknowledged batches, and at the end the
 * result of every batch.
 */
import { writeSync } from 'node:fs'
import { openStore } from '@quoin/store'
import { numberedBatch } from '../crash.workload.mjs'

const [kind, root, first, count, ...faults] = process.argv.slice(2)
const codeOf = work =>
  work.then(
    () => 'ok',
    error => error.code ?? String(error)
  )

for (const [run, fault] of faults.entries()) {
  writeSync(1, `! ${fault}`)
  const codes = []
  let store
  const opened = await codeOf(
    openStore(`${kind}:${root}/${run}/parent/store`).then(open => {
      store = open
    })
  )
  for (let n = Number(first); store && codes.length < Number(count); n++) {
    codes.push(await codeOf(numberedBatch(store, n).commit()))
    if (codes.at(-1) === 'ok') writeSync(1, `${n}\n`)
  }
  writeSync(1, '! none')
  const closed = store && (await codeOf(store.close()))
  writeSync(1, `${JSON.stringify({ opened, codes, closed })}\n`)
}
