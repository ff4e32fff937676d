/**
 * Opens stores after a crash: `{ url, acknowledged, tried, next }` in a line of JSON, answered by a line with the
 * problems found. Each store is written to, closed and opened again. A process of its own, since a damaged file may
 * kill it.
 */
import { createInterface } from 'node:readline'
import { openStore } from '@quoin/store'
import { numberedBatch, partsOf, totals } from '../crash.workload.mjs'

const look = async (store, acknowledged, tried, when) => {
  const problems = []
  let present = 0
  for (const n of tried) {
    const parts = await partsOf(store, n)
    const there = Object.keys(parts).filter(part => parts[part])
    if (there.length === Object.keys(parts).length) present++
    else if (there.length > 0) problems.push(`${when}: of batch ${n} there is only ${there}`)
    else if (acknowledged.has(n)) problems.push(`${when}: batch ${n} was acknowledged and is gone`)
  }
  for (const [name, total] of Object.entries(await totals(store, present))) {
    if (total !== present) problems.push(`${when}: ${name} is ${total} of ${present}`)
  }
  return problems
}

const check = async ({ url, acknowledged, tried, next }) => {
  let store = await openStore(url)
  try {
    const problems = await look(store, new Set(acknowledged), tried, 'opened')
    await numberedBatch(store, next).commit()
    await store.close()
    store = await openStore(url)
    return [
      ...problems,
      ...(await look(store, new Set([...acknowledged, next]), [...tried, next], 'opened again'))
    ]
  } finally {
    await store.close()
  }
}

for await (const line of createInterface(process.stdin)) {
  const problems = await check(JSON.parse(line)).catch(error => [`${error.code ?? ''} ${error.message}`])
  process.stdout.write(`${JSON.stringify(problems)}\n`)
}
