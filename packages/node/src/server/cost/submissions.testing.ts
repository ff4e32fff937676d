/** Engines on durable stores, with the submissions that the benchmark `cost` measures: a warm-up, then equal slices. */
import { type Transaction, writeBeef } from '@quoin/chain'
import { kvstore } from '@quoin/kvstore'
import { makeBeefs, openSubmissions, submitAll } from '../../../../../bench/scale/submissions.ts'
import {
  makeKey,
  payTo,
  spend,
  TestChain,
  withKeyHash
} from '../../../../chain/src/verify/test-chain.testing.ts'
import { Author, compose, entriesOf, payment } from '../../../../kvstore/src/author.testing.ts'

export interface Counts {
  readonly warm: number
  readonly slice: number
  readonly slices: number
}

export interface SlicedWork {
  /** Submissions of a slice. */
  readonly ops: number
  readonly warmUp: () => Promise<unknown>
  /** Submits the next slice. */
  readonly next: () => Promise<unknown>
  readonly close: () => Promise<void>
}

type Progress = (text: string) => void

const total = ({ warm, slice, slices }: Counts): number => warm + slice * slices

const sliced = (
  beefs: readonly Uint8Array[],
  { warm, slice }: Counts,
  submit: (beefs: readonly Uint8Array[]) => Promise<unknown>
): Omit<SlicedWork, 'close'> => {
  let at = warm
  return {
    ops: slice,
    warmUp: () => submit(beefs.slice(0, warm)),
    next: () => {
      const from = at
      at += slice
      return submit(beefs.slice(from, at))
    }
  }
}

/** Transactions of a set, into an empty store. */
export const setWork = async (url: string, set: 'a' | 'b10', counts: Counts): Promise<SlicedWork> => {
  const chain = new TestChain()
  const beefs = await makeBeefs(chain, 0, total(counts), set)
  const { engine, close } = await openSubmissions(url, chain)
  return { close, ...sliced(beefs, counts, given => submitAll(engine, given)) }
}

const KV = 'tm_kvstore'

/**
 * Entries of the key-value store, each of a controller of its own. An update spends an entry that is unproved and known, and
 * a proved coin: three signatures, of which one is in the entry.
 */
export const kvWork = async (url: string, isUpdate: boolean, counts: Counts): Promise<SlicedWork> => {
  const chain = new TestChain()
  const coin = () => ({ from: chain.fund([payment(1_000_000)]), vout: 0 })
  const created: Uint8Array[] = []
  const updated: Uint8Array[] = []
  for (let i = 0; i < total(counts); i++) {
    const author = new Author(i)
    const content = { key: 'greeting', value: 'hello', tags: ['a', 'b'] }
    const [first, second] = [coin(), coin()]
    const transaction = compose(first, [[author, content]])
    created.push(chain.beef([first.from, transaction]))
    if (!isUpdate) continue
    const prior = entriesOf([[author, content]], transaction)
    const update = compose(second, [[author, { ...content, value: 'again' }]], prior)
    updated.push(chain.beef([first.from, transaction, second.from, update]))
  }
  const { engine, close } = await openSubmissions(url, chain, [kvstore])
  if (isUpdate) await submitAll(engine, created, KV)
  return { close, ...sliced(isUpdate ? updated : created, counts, given => submitAll(engine, given, KV)) }
}

const key = makeKey('cost')
const pay = (satoshis: number) => ({ satoshis, script: payTo(key) })
/** Chains of transactions that grow together. */
const TIPS = 64

/** Transactions on chains of unproved ancestors that the store knows; the BEEF names the parent only. */
export const knownAncestorsWork = async (
  url: string,
  depth: number,
  { warm, slice, slices }: Counts,
  progress: Progress
): Promise<SlicedWork> => {
  const chain = new TestChain()
  const { engine, close } = await openSubmissions(url, chain)
  const tips = Array.from({ length: TIPS }, () => chain.fund([pay(1_000_000)]))
  const roots = tips.map(tip => chain.beef([tip]))
  await submitAll(engine, roots)
  const nextGeneration = (): Uint8Array[] =>
    tips.map((tip, i) => {
      tips[i] = successor(tip)
      return onKnown(tip, tips[i])
    })
  const submitGenerations = async (generations: readonly Uint8Array[][]): Promise<void> => {
    for (const each of generations) await submitAll(engine, each)
  }
  for (let at = 0; at < depth; at++) {
    if (at % 100 === 0) progress(`${at} ancestors`)
    await submitGenerations([nextGeneration()])
  }
  const perSlice = Math.ceil(slice / TIPS)
  const warmUp = Array.from({ length: Math.ceil(warm / TIPS) }, nextGeneration)
  const measured = Array.from({ length: perSlice * slices }, nextGeneration)
  return {
    close,
    ops: perSlice * TIPS,
    warmUp: () => submitGenerations(warmUp),
    next: () => submitGenerations(measured.splice(0, perSlice))
  }
}

/** Outputs of one transaction that fills a store. */
const FAN = 500

/** Transactions of one input into a store of so many outputs. */
export const grownWork = async (
  url: string,
  outputs: number,
  counts: Counts,
  progress: Progress
): Promise<SlicedWork> => {
  const chain = new TestChain()
  const { engine, close } = await openSubmissions(url, chain)
  for (let stored = 0; stored < outputs; stored += FAN) {
    if (stored % 1e5 === 0) progress(`${stored.toLocaleString('en-US')} outputs`)
    const from = chain.fund([pay(1_000_000)])
    const fan = spend({
      inputs: [{ from, vout: 0, unlock: withKeyHash(key) }],
      outputs: Array.from({ length: FAN }, () => pay(1))
    })
    await submitAll(engine, [chain.beef([from, fan])])
  }
  const beefs = await makeBeefs(chain, outputs, total(counts))
  return { close, ...sliced(beefs, counts, given => submitAll(engine, given)) }
}

const successor = (from: Transaction): Transaction =>
  spend({
    inputs: [{ from, vout: 0, unlock: withKeyHash(key) }],
    outputs: [pay(from.outputs[0]!.satoshis - 1)]
  })

/** A BEEF that names its parent alone. */
export const onKnown = (parent: Transaction, transaction: Transaction): Uint8Array =>
  writeBeef({
    version: 2,
    transactions: [
      { txid: parent.txid, transaction: undefined, bump: undefined },
      { txid: transaction.txid, transaction, bump: undefined }
    ]
  })
