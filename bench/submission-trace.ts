/**
 * The path of one submission: the source files whose functions run, the promises that are made on the event loop and the
 * copies of bytes, during one `Engine.submit` of a BEEF with 30 unproved ancestors on `lmdb:`, after one of the same kind.
 *
 *     node --import ./scripts/typescript.mjs bench/submission-trace.ts [--ancestors N] [--files] [--promises] [--copies]
 *
 * Promises are the `PROMISE` inits of async_hooks between the call and its answer. Files are those with at least one
 * function that V8's precise coverage counts in the same time. Copies are the calls of `slice` and `set` of typed arrays
 * with at least a byte. Each number is of a submission of its own, because a hook is code that runs too.
 */
import { createHook } from 'node:async_hooks'
import { mkdtemp, rm } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { hex } from '@quoin/keyspace'
import { definePlugin, Engine, installPlugins } from '@quoin/overlay'
import { openStore } from '@quoin/store'
import { event, OutputStore } from '@quoin/txo'
import {
  makeKey,
  payTo,
  spend,
  TestChain,
  withKeyHash
} from '../packages/chain/src/verify/test-chain.testing.ts'

const WARM_UPS = 20
const { values: given } = parseArgs({
  options: {
    ancestors: { type: 'string', default: '30' },
    files: { type: 'boolean', default: false },
    promises: { type: 'boolean', default: false },
    copies: { type: 'boolean', default: false }
  }
})
const ANCESTORS = Number(given.ancestors)
if (!Number.isInteger(ANCESTORS) || ANCESTORS < 0) throw new Error(`invalid --ancestors: ${given.ancestors}`)
const write = (line: string): unknown => process.stdout.write(`${line}\n`)

const about = {
  getDocumentation: async () => '',
  getMetaData: async () => ({ name: '', shortDescription: '' })
}
/** A topic that admits all outputs, and a lookup that finds them by a byte. */
const plugin = definePlugin({
  name: 'all',
  setup: ({ events }) => {
    const { last } = events({
      last: event('last', 'By the last byte of the txid.', hex('byte', { length: 1 }))
    })
    return {
      topics: {
        tm_all: { ...about, admit: ({ transaction }) => ({ outputs: [...transaction.outputs.keys()] }) }
      },
      lookups: {
        ls_all: {
          ...about,
          index: ({ transaction }) => ({ events: [last.text(transaction.txid.subarray(31))] }),
          lookup: async () => []
        }
      }
    }
  }
})

const chain = new TestChain()

const makeBeef = (seed: number): Uint8Array => {
  const key = makeKey(seed)
  const transactions = [chain.fund([{ satoshis: 1000, script: payTo(key) }])]
  for (let i = 0; i <= ANCESTORS; i++) {
    const from = transactions.at(-1)!
    const satoshis = from.outputs[0]!.satoshis - 1
    const outputs = [{ satoshis, script: payTo(key) }]
    transactions.push(spend({ inputs: [{ from, vout: 0, unlock: withKeyHash(key) }], outputs }))
  }
  return chain.beef(transactions)
}

const countPromises = async (work: () => Promise<unknown>): Promise<Map<string, number>> => {
  const byPlace = new Map<string, number>()
  const hook = createHook({
    init: (_, type) => {
      if (type !== 'PROMISE') return
      const place = placeOf(new Error('promise').stack ?? '')
      byPlace.set(place, (byPlace.get(place) ?? 0) + 1)
    }
  })
  hook.enable()
  await work()
  hook.disable()
  return byPlace
}

interface Copies {
  readonly byPlace: ReadonlyMap<string, number>
  readonly bytes: number
}

const countCopies = async (work: () => Promise<unknown>): Promise<Copies> => {
  const byPlace = new Map<string, number>()
  let bytes = 0
  const add = (length: number): void => {
    if (length === 0) return
    const place = placeOf(new Error('copy').stack ?? '')
    byPlace.set(place, (byPlace.get(place) ?? 0) + 1)
    bytes += length
  }
  const prototype = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array
  const { slice, set } = prototype
  prototype.slice = function (...args) {
    const copy = slice.apply(this, args)
    add(copy.byteLength)
    return copy
  }
  prototype.set = function (source, offset) {
    add(source.length)
    set.call(this, source, offset)
  }
  await work()
  Object.assign(prototype, { slice, set })
  return { byPlace, bytes }
}

/** The innermost frame in a source of Quoin. */
const placeOf = (stack: string): string => {
  const frame = stack.split('\n').find(line => line.includes('/packages/'))
  return (
    frame?.replace(/^\s*at /, '').replace(/^(.*?) ?\(?file:.*\/packages\//, '$1 ') ?? 'outside of the sources'
  )
}

const countFunctions = async (work: () => Promise<unknown>): Promise<Map<string, string[]>> => {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await session.post('Profiler.takePreciseCoverage')
  await work()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  session.disconnect()
  const byFile = new Map<string, string[]>()
  for (const { url, functions } of result) {
    const [, file] = /\/(packages\/.*\/src\/.*(?<!\.testing)\.ts)$/.exec(url) ?? []
    const names = functions.filter(({ ranges }) => ranges[0]!.count > 0).map(each => each.functionName)
    if (file && names.length > 0) byFile.set(file, names)
  }
  return byFile
}

const folder = await mkdtemp(join(tmpdir(), 'quoin-trace-'))
const outputs = new OutputStore(await openStore(`lmdb:${folder}`))
const engine = new Engine({ outputs, tracker: chain, ...(await installPlugins([plugin], { outputs })) })
let seed = 0
const submit = async (): Promise<() => Promise<unknown>> => {
  const beef = makeBeef(seed++)
  return () => engine.submit({ beef, topics: ['tm_all'] })
}
for (let i = 0; i < WARM_UPS; i++) await (await submit())()
const promises = await countPromises(await submit())
const files = await countFunctions(await submit())
const copies = await countCopies(await submit())
const sum = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((total, each) => total + each, 0)
write(
  `${files.size} files, ${sum(promises)} promises, ${sum(copies.byPlace)} copies of ${copies.bytes} bytes together`
)
const list = (counts: ReadonlyMap<string, number>): void => {
  for (const [place, count] of [...counts].sort((a, b) => b[1] - a[1])) write(`${count}  ${place}`)
}
if (given.files) for (const [file, names] of files) write(`${file}: ${names.join(' ')}`)
if (given.promises) list(promises)
if (given.copies) list(copies.byPlace)
await engine.close()
await outputs.store.close()
await rm(folder, { recursive: true, force: true })
