/** The amounts of an account by kind: exact sums, each with its number of outputs. */

import { value } from '@quoin/keyspace'
import { encodeText, QuoinError } from '@quoin/primitives'

export interface Amount {
  readonly amount: bigint
  readonly outputs: number
}

/** Without amounts of zero. */
export type Amounts = Readonly<Record<string, Amount>>

const decoder = new TextDecoder()
const isObject = (read: unknown): boolean => typeof read === 'object' && read !== null && !Array.isArray(read)

/** As JSON: `{"name":["amount",outputs]}`, in the order of the names. */
const encode = (given: Amounts): Uint8Array => {
  const parts = Object.keys(given)
    .sort()
    .map(name => `${JSON.stringify(name)}:["${given[name]!.amount}",${given[name]!.outputs}]`)
  return encodeText(`{${parts.join()}}`)
}

const decode = (bytes: Uint8Array): Amounts => {
  try {
    // Decoded in place: a new object would take longer than parsing.
    const read = JSON.parse(decoder.decode(bytes)) as Record<string, [string, number] | Amount>
    if (!isObject(read)) throw new RangeError('no object')
    for (const name in read) {
      const [amount, outputs] = read[name] as [string, number]
      read[name] = { amount: BigInt(amount), outputs }
    }
    return read as Amounts
  } catch (cause) {
    throw new QuoinError('ERR_VALUE_DECODE', 'the amounts of an account are damaged', {
      bytes: bytes.length,
      cause
    })
  }
}

export const amounts = value<Amounts>({ name: 'amounts', encode, decode })

export const totalOf = (of: Amounts): bigint => {
  let sum = 0n
  for (const name in of) sum += of[name]!.amount
  return sum
}

/** The amounts after changes; undefined if one would be negative. */
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
