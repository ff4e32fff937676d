/** Random histories of transactions for tests: who spends what, and what is said of the outputs. */
import { createHash } from 'node:crypto'
import { makeOutpoint, type Outpoint, type Txid } from '@quoin/primitives'
import fc from 'fast-check'
import { outputEvents } from './events.ts'
import { TxUpdate } from './tx-update.ts'

export const txidNumber = (number: number): Txid =>
  new Uint8Array(createHash('sha256').update(`transaction ${number}`).digest()) as Txid

/** Real addresses, by their first letters. */
export const ADDRESSES = [
  '1HdvFwjcMgRdB8Cwgzcaady1GYd7a9Ffyc',
  '1MYAnam22a2ADyMHQbKPn4yWfNmovfHbfD',
  '15gdXn8UEeQ5JDvDMoKVEWN9PZeE854P89'
] as const

export const own = (address: string): string => outputEvents.types.own.text(address)

export interface HistoryTransaction {
  readonly number: number
  readonly outputs: readonly { readonly owner: number; readonly satoshis: number }[]
  /** Each output is spent at most once. */
  readonly spends: readonly { readonly of: number; readonly vout: number }[]
  readonly height: number | undefined
}

/** Transactions that spend outputs of earlier ones, no output twice. */
export const history = (size: number): fc.Arbitrary<HistoryTransaction[]> =>
  fc
    .array(
      fc.record({
        outputs: fc.array(fc.record({ owner: fc.nat(ADDRESSES.length - 1), satoshis: fc.nat(1_000_000) }), {
          minLength: 1,
          maxLength: 3
        }),
        wants: fc.array(fc.nat(1_000_000), { maxLength: 3 }),
        height: fc.option(fc.integer({ min: 800_000, max: 800_100 }), { nil: undefined })
      }),
      { minLength: 1, maxLength: size }
    )
    .map(drafts => {
      const free: { of: number; vout: number }[] = []
      return drafts.map(({ outputs, wants, height }, number) => {
        const spends = wants.flatMap(want => (free.length > 0 ? free.splice(want % free.length, 1) : []))
        free.push(...outputs.map((_, vout) => ({ of: number, vout })))
        return { number, outputs, spends, height }
      })
    })

export const outpointOf = ({ of, vout }: { of: number; vout: number }): Outpoint =>
  makeOutpoint(txidNumber(of), vout)

const SEEN = 1_700_000_000
export const NOW = SEEN + 1_000_000

/** What an indexer would save of a transaction. */
export const changeOf = (transaction: HistoryTransaction, all: readonly HistoryTransaction[]): TxUpdate => {
  const { number, outputs, spends, height } = transaction
  const change = new TxUpdate(txidNumber(number), {
    seen: SEEN + number,
    position: height === undefined ? undefined : { height, index: BigInt(number) },
    vouts: outputs.length
  })
  for (const [vout, { satoshis }] of outputs.entries()) {
    change.output(vout, { satoshis, events: eventsOf(number, vout, all) })
  }
  for (const spend of spends) change.spend(outpointOf(spend), eventsOf(spend.of, spend.vout, all))
  return change
}

export const eventsOf = (number: number, vout: number, all: readonly HistoryTransaction[]): string[] => [
  outputEvents.types.txid.text(txidNumber(number)),
  own(ADDRESSES[all[number]!.outputs[vout]!.owner]!)
]

/** A transaction and all that spend from it, directly or not. */
export const downstream = (root: number, all: readonly HistoryTransaction[]): Set<number> => {
  const found = new Set([root])
  for (const { number, spends } of all) if (spends.some(({ of }) => found.has(of))) found.add(number)
  return found
}
