/** The amounts of an account: exact, by what kind they are, each with how many outputs it is in. */
import { QuoinError, value } from '../keyspace/index.ts'

export interface Amount {
  readonly amount: bigint
  readonly outputs: number
}

/** None of them is nothing. */
export type Amounts = Readonly<Record<string, Amount>>

const encode = (given: Amounts): Uint8Array => {
  const sorted = Object.entries(given).sort(([a], [b]) => (a < b ? -1 : 1))
  const texts = sorted.map(([name, { amount, outputs }]) => [name, [amount.toString(), outputs]])
  return new TextEncoder().encode(JSON.stringify(Object.fromEntries(texts)))
}

const decode = (bytes: Uint8Array): Amounts => {
  try {
    const read = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, [string, number]>
    return Object.fromEntries(
      Object.entries(read).map(([name, [amount, outputs]]) => [name, { amount: BigInt(amount), outputs }])
    )
  } catch {
    throw new QuoinError('ERR_VALUE_DECODE', 'the amounts of an account are damaged', { bytes: bytes.length })
  }
}

export const amounts = value<Amounts>({ name: 'amounts', encode, decode })

export const totalOf = (of: Amounts): bigint =>
  Object.values(of).reduce((sum, { amount }) => sum + amount, 0n)

/** What there is after so much is added or taken away; undefined when there is not that much. */
export const adding = (to: Amounts, changes: ReadonlyMap<string, Amount>): Amounts | undefined => {
  const after: Record<string, Amount> = { ...to }
  for (const [name, change] of changes) {
    const sum = plus(after[name] ?? NOTHING, change)
    if (sum.amount < 0n || sum.outputs < 0) return undefined
    if (isNothing(sum)) delete after[name]
    else after[name] = sum
  }
  return after
}

export const NOTHING: Amount = { amount: 0n, outputs: 0 }
export const isNothing = ({ amount, outputs }: Amount): boolean => amount === 0n && outputs === 0
export const plus = (a: Amount, b: Amount): Amount => ({
  amount: a.amount + b.amount,
  outputs: a.outputs + b.outputs
})
export const negative = ({ amount, outputs }: Amount): Amount => ({ amount: -amount, outputs: -outputs })
