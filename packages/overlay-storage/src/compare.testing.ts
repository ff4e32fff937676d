/** Asks two storages the same questions, and expects the same answers. */

import { Beef, type Bump } from '@quoin/chain'
import { compareBytes, formatTxid, makeOutpoint, parseTxid, toHex } from '@quoin/primitives'
import type { Store } from '@quoin/store'
import { compareIndexes } from '@quoin/txo'
import { expect } from 'vitest'
import type { CorrectedStorage } from './knex-storage.testing.ts'
import type { EngineOutpoint, EngineOutput } from './output-rows.ts'
import type { Storage } from './program.testing.ts'
import { TOPICS, type World } from './world.testing.ts'

const HOSTS = ['https://a.example', 'https://b.example:8080/x']

const bytesOf = ({ txid, outputIndex }: EngineOutpoint): Uint8Array =>
  makeOutpoint(parseTxid(txid), outputIndex)
const inOrder = <T extends EngineOutpoint>(rows: readonly T[]): T[] =>
  rows.toSorted((a, b) => compareBytes(bytesOf(a), bytesOf(b)))

/** A row, but for the BEEF; consumers are a set. */
const plain = ({ beef: _, ...row }: EngineOutput): object => ({
  ...row,
  outputScript: Buffer.from(row.outputScript).toString('hex'),
  consumedBy: inOrder(row.consumedBy)
})

const byTopic = (rows: readonly EngineOutput[]): EngineOutput[] =>
  inOrder(rows).toSorted((a, b) => compareBytes(bytesOf(a), bytesOf(b)) || (a.topic < b.topic ? -1 : 1))

/** The transactions of a BEEF that are needed for a subject, if these proofs are known, with what proves them. */
export const beefContent = (
  bytes: readonly number[],
  subject: string,
  proofs: ReadonlyMap<string, Bump>
): Record<string, string> => {
  const beef = Beef.parse(Uint8Array.from(bytes))
  const content: Record<string, string> = {}
  const wanted = [subject]
  for (const txid of wanted) {
    if (txid in content) continue
    const { transaction, bump } = beef.find(parseTxid(txid))!
    const proof = bump ?? proofs.get(txid)
    const raw = Buffer.from(transaction!.raw).toString('hex')
    content[txid] = `${raw} ${proof ? `${proof.height} ${Buffer.from(proof.root).toString('hex')}` : ''}`
    if (!proof) wanted.push(...transaction!.inputs.map(input => formatTxid(input.txid)))
  }
  return content
}

/** What it holds besides, that the subject would not need. */
const beefSize = (bytes: readonly number[]): number => Beef.parse(Uint8Array.from(bytes)).transactions.length

/**
 * `turn` goes round what is asked of single outputs. Scores are the same on both sides, since the corrected storage has
 * those of the output store in its column; what it does not have is an order among equal scores.
 */
export const compareAnswers = async (
  ours: Storage,
  theirs: CorrectedStorage,
  world: World,
  turn: number
): Promise<void> => {
  for (const { txid, outputs } of world.transactions) {
    const name = formatTxid(txid)
    const [a, b] = [
      byTopic(await ours.findOutputsForTransaction(name, true)),
      byTopic(await theirs.findOutputsForTransaction(name, true))
    ]
    expect(a.map(plain)).toEqual(b.map(plain))
    for (const [i, row] of a.entries()) {
      const content = beefContent(row.beef!, name, new Map())
      expect(content).toEqual(beefContent(b[i]!.beef!, name, theirs.known.proofs))
      expect(beefSize(row.beef!)).toBe(Object.keys(content).length)
    }
    for (const vout of outputs.keys()) {
      const spent = [undefined, true, false][turn % 3]
      for (const topic of TOPICS) {
        const [x, y] = [
          await ours.findOutput(name, vout, topic, spent, turn % 2 === 0),
          await theirs.findOutput(name, vout, topic, spent, turn % 2 === 0)
        ]
        expect(x && plain(x)).toEqual(y && plain(y))
        expect(x?.beef === undefined).toBe(y?.beef === undefined)
      }
      const any = await ours.findOutput(name, vout, undefined, spent)
      const rows = b.filter(row => row.outputIndex === vout && (spent === undefined || row.spent === spent))
      if (any) expect(rows.map(plain)).toContainEqual(plain(any))
      else expect(rows).toEqual([])
    }
    for (const topic of TOPICS) {
      const applied = { txid: name, topic }
      expect(await ours.doesAppliedTransactionExist(applied)).toBe(
        await theirs.doesAppliedTransactionExist(applied)
      )
    }
  }
  for (const topic of TOPICS) await compareUnspent(ours, theirs, topic, turn)
  for (const topic of TOPICS) {
    for (const host of HOSTS) {
      expect(await ours.getLastInteraction(host, topic)).toBe(await theirs.getLastInteraction(host, topic))
    }
  }
}

const compareUnspent = async (
  ours: Storage,
  theirs: CorrectedStorage,
  topic: string,
  turn: number
): Promise<void> => {
  const all = await ours.findUTXOsForTopic(topic)
  const byScore = (a: EngineOutput, b: EngineOutput): number =>
    a.score! - b.score! || compareBytes(bytesOf(a), bytesOf(b))
  expect(all.map(plain)).toEqual((await theirs.findUTXOsForTopic(topic)).toSorted(byScore).map(plain))
  const since = all[turn % (all.length + 1)]?.score ?? [0, -1, 4, 1e12][turn % 4]!
  const limit = [0, -1, 1, 2, 5][turn % 5]!
  const [some, other] = [
    await ours.findUTXOsForTopic(topic, since, limit, true),
    await theirs.findUTXOsForTopic(topic, since, limit, true)
  ]
  expect(some.map(({ score }) => score)).toEqual(other.map(({ score }) => score))
  const from = since > 0 ? all.filter(({ score }) => score! >= since) : all
  expect(some.map(plain)).toEqual((limit > 0 ? from.slice(0, limit) : from).map(plain))
  expect(some.every(({ beef }) => beef !== undefined)).toBe(true)
}

/** Where two stores differ, as far as the index goes. */
export const differences = async (found: Store, expected: Store): Promise<string[]> => {
  const all: string[] = []
  for await (const { key, part } of compareIndexes(found, expected)) all.push(`${toHex(key)} ${toHex(part)}`)
  return all
}
