/**
 * Random programs of what an engine does with its storage, as steps over a world of transactions. The steps are played
 * the way the engine calls its storage.
 */

import type { Transaction } from '@quoin/chain'
import { formatTxid } from '@quoin/primitives'
import fc from 'fast-check'
import type { EngineStorage } from './engine-storage.ts'
import type { EngineOutpoint, EngineOutput } from './output-rows.ts'
import { TOPICS, type World } from './world.testing.ts'

export type Storage = Omit<EngineStorage, 'findOutputsByOutpoints'>

/** A topic's verdict: which outputs it admits and which of its coins it keeps, as bits. */
interface Verdict {
  readonly topic: (typeof TOPICS)[number]
  readonly admits: number
  readonly retains: number
}

/** Transactions, outputs and coins are given as any number, and taken modulo how many there are. */
export type Step =
  | {
      readonly kind: 'submit'
      readonly coins: readonly { readonly of: number; readonly vout: number }[]
      readonly outputs: number
      readonly mined: boolean
      readonly informed: boolean
      readonly verdicts: readonly Verdict[]
    }
  | {
      readonly kind: 'resubmit'
      readonly of: number
      readonly informed: boolean
      readonly verdicts: readonly Verdict[]
    }
  | { readonly kind: 'insert again'; readonly of: number }
  | { readonly kind: 'apply'; readonly of: number; readonly topic: string }
  | { readonly kind: 'mark' | 'delete'; readonly of: number; readonly vout: number; readonly topic: string }
  | { readonly kind: 'prove'; readonly of: number; readonly heights: boolean }
  | {
      readonly kind: 'height'
      readonly of: number
      readonly vout: number
      readonly topic: string
      readonly height: number
    }
  | { readonly kind: 'interact'; readonly host: string; readonly topic: string; readonly since: number }

const any = fc.nat(1_000_000)
const topic = fc.constantFrom(...TOPICS)
const verdicts = fc
  .uniqueArray(fc.record({ topic, admits: fc.nat(7), retains: fc.nat(7) }), {
    minLength: 1,
    selector: verdict => verdict.topic
  })
  .map(all => all as readonly Verdict[])

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('submit' as const),
      coins: fc.array(fc.record({ of: any, vout: any }), { minLength: 1, maxLength: 3 }),
      outputs: fc.integer({ min: 1, max: 3 }),
      mined: fc.oneof(
        { weight: 3, arbitrary: fc.constant(false) },
        { weight: 1, arbitrary: fc.constant(true) }
      ),
      informed: fc.boolean(),
      verdicts
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('resubmit' as const),
      of: any,
      informed: fc.boolean(),
      verdicts
    })
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('insert again' as const), of: any }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('apply' as const), of: any, topic }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('mark' as const, 'delete' as const),
      of: any,
      vout: any,
      topic
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('prove' as const), of: any, heights: fc.boolean() })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('height' as const),
      of: any,
      vout: any,
      topic,
      height: fc.integer({ min: 1, max: 20 })
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('interact' as const),
      host: fc.constantFrom('https://a.example', 'https://b.example:8080/x'),
      topic,
      since: fc.nat(2 ** 40)
    })
  }
)

export const programs = (length: number): fc.Arbitrary<Step[]> =>
  fc.array(steps, { minLength: 1, maxLength: length, size: 'max' })

/** What was inserted, to insert it again. */
export type Inserted = Map<string, EngineOutput>

/** A step as something to do to a storage, and the same to another. */
export const plan = (step: Step, world: World, inserted: Inserted): ((storage: Storage) => Promise<void>) => {
  world.clock += 1500
  switch (step.kind) {
    case 'submit': {
      const transaction = world.create(world.coins(step.coins), step.outputs)
      if (step.mined) world.mine(transaction)
      return submitting(world, transaction, step.informed, step.verdicts, inserted)
    }
    case 'resubmit':
      return submitting(world, world.pick(step.of), step.informed, step.verdicts, inserted)
    case 'insert again': {
      const output = [...inserted.values()][step.of % inserted.size]
      if (!output) return async () => undefined
      const score = world.clock
      return async storage => {
        await storage.insertOutput({ ...output, score })
        await consume(storage, output, output.outputsConsumed, [output])
      }
    }
    case 'apply': {
      const txid = formatTxid(world.pick(step.of).txid)
      return storage => storage.insertAppliedTransaction({ txid, topic: step.topic })
    }
    case 'mark':
    case 'delete': {
      const { txid, outputs } = world.pick(step.of)
      const outpoint = [formatTxid(txid), step.vout % outputs.length] as const
      return step.kind === 'mark'
        ? storage => storage.markUTXOAsSpent(...outpoint, step.topic)
        : storage => storage.deleteOutput(...outpoint, step.topic)
    }
    case 'prove': {
      const transaction = world.pick(step.of)
      const { height } = world.mine(transaction)
      const txid = formatTxid(transaction.txid)
      const beef = world.beef(transaction, true)
      return async storage => {
        await storage.updateTransactionBEEF(txid, beef)
        if (!step.heights) return
        for (const { outputIndex, topic } of await storage.findOutputsForTransaction(txid)) {
          await storage.updateOutputBlockHeight(txid, outputIndex, topic, height)
        }
      }
    }
    case 'height': {
      const { txid, outputs } = world.pick(step.of)
      const vout = step.vout % outputs.length
      return storage => storage.updateOutputBlockHeight(formatTxid(txid), vout, step.topic, step.height)
    }
    case 'interact':
      return storage => storage.updateLastInteraction(step.host, step.topic, step.since)
  }
}

/** The calls that the engine makes for a transaction, one after another. */
const submitting = (
  world: World,
  transaction: Transaction,
  informed: boolean,
  verdicts: readonly Verdict[],
  inserted: Inserted
): ((storage: Storage) => Promise<void>) => {
  const txid = formatTxid(transaction.txid)
  const beef = world.beef(transaction, informed)
  const score = world.clock
  return async storage => {
    for (const { topic, admits, retains } of verdicts) {
      if (await storage.doesAppliedTransactionExist({ txid, topic })) continue
      const consumed: EngineOutpoint[] = []
      for (const [i, input] of transaction.inputs.entries()) {
        const coin = await storage.findOutput(formatTxid(input.txid), input.vout, topic)
        if (!coin) continue
        await storage.markUTXOAsSpent(coin.txid, coin.outputIndex, topic)
        if (retains & (1 << i)) consumed.push({ txid: coin.txid, outputIndex: coin.outputIndex })
        else await deleteDeep(storage, { ...coin, spent: true })
      }
      const admitted: EngineOutput[] = []
      for (const outputIndex of transaction.outputs.keys()) {
        if (!(admits & (1 << outputIndex))) continue
        const output = {
          ...world.output(transaction, outputIndex, topic),
          outputsConsumed: consumed,
          beef,
          score
        }
        await storage.insertOutput(output)
        admitted.push(output)
      }
      for (const output of admitted) inserted.set(`${topic} ${txid}.${output.outputIndex}`, output)
      for (const output of admitted.slice(0, 1)) await consume(storage, output, consumed, admitted)
      await storage.insertAppliedTransaction({ txid, topic })
    }
  }
}

const consume = async (
  storage: Storage,
  { topic }: EngineOutput,
  consumed: readonly EngineOutpoint[],
  consumers: readonly EngineOutpoint[]
): Promise<void> => {
  for (const { txid, outputIndex } of consumed) {
    const coin = await storage.findOutput(txid, outputIndex, topic)
    if (!coin) continue
    const added = consumers.map(each => ({ txid: each.txid, outputIndex: each.outputIndex }))
    await storage.updateConsumedBy(txid, outputIndex, topic, [...added, ...coin.consumedBy])
  }
}

/** Deletes a coin that nothing in its topic consumes, and the coins that only it consumed. */
const deleteDeep = async (storage: Storage, output: EngineOutput): Promise<void> => {
  if (output.consumedBy.length > 0) return
  await storage.deleteOutput(output.txid, output.outputIndex, output.topic)
  for (const { txid, outputIndex } of output.outputsConsumed) {
    const coin = await storage.findOutput(txid, outputIndex, output.topic)
    if (!coin) continue
    const consumedBy = coin.consumedBy.filter(
      each => each.txid !== output.txid || each.outputIndex !== output.outputIndex
    )
    await storage.updateConsumedBy(txid, outputIndex, output.topic, consumedBy)
    await deleteDeep(storage, { ...coin, consumedBy })
  }
}
