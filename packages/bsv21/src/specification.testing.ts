/**
 * The specification of BSV21 (D11) as a function over a whole history: transactions in an order in which each comes
 * after those that it spends. It is written to be read, not to be run often, and shares nothing with the rules that the
 * pipeline uses but the parsing of scripts.
 *
 * The state is a list of coins. A transaction takes the coins that it spends out of the hands of their holders, and puts
 * new ones into others'. Everything else is counted from the list at the end.
 */
import type { Transaction } from '@quoin/chain'
import { bytesKey, formatOutpoint, makeOutpoint } from '@quoin/primitives'
import { decodeBsv21, decodeCosign, decodeOrdLock, decodeOwner } from '@quoin/txo'

interface SpecifiedCoin {
  /** `txid_vout` */
  readonly outpoint: string
  readonly token: string
  readonly op: string
  /** What it says, `0` where it says nothing. */
  readonly amount: bigint
  /** What of it the transaction made anew. */
  minted: bigint
  /** Like the events: `p2pkh:{address}`, `cos:{address}`, `list:{address}`, or nothing. */
  readonly holder: string
  spent: boolean
}

export interface SpecifiedToken {
  minted: bigint
  supply: bigint
  burned: bigint
  /** What is listed for sale. */
  listed: bigint
  /** Amounts by `p2pkh:{address}`, `cos:{address}` and `list:{address}`. */
  balances: Record<string, bigint>
  /** Addresses with what they hold, the most first, and of equals the lower hash first. */
  holders: [address: string, amount: bigint][]
  /** All good outputs, sorted. */
  outputs: string[]
  /** Those of them that are not spent. */
  unspent: string[]
}

/** What BSV21 says of a history: every token that was deployed, by its id. */
export const specifiedState = (history: readonly Transaction[]): Record<string, SpecifiedToken> => {
  const coins: SpecifiedCoin[] = []
  const at = new Map<string, SpecifiedCoin>()
  for (const transaction of history) {
    const spent = transaction.inputs.flatMap(({ txid, vout }) => {
      const coin = at.get(formatOutpoint(makeOutpoint(txid, vout), '_'))
      return coin ? [coin] : []
    })
    const made = claimed(transaction)
    for (const token of new Set(made.map(coin => coin.token))) {
      for (const coin of allowed(
        made.filter(each => each.token === token),
        spent.filter(each => each.token === token)
      )) {
        coins.push(coin)
        at.set(coin.outpoint, coin)
      }
    }
    for (const coin of spent) coin.spent = true
  }
  return Object.fromEntries(
    coins.filter(({ op }) => op.startsWith('deploy')).map(({ token }) => [token, summed(coins, token)])
  )
}

/** Of the coins that a transaction wants to make of one token, those that it may. */
const allowed = (made: readonly SpecifiedCoin[], spent: readonly SpecifiedCoin[]): SpecifiedCoin[] => {
  let available = 0n
  let authority = false
  for (const { op, amount } of spent) {
    switch (op) {
      case 'transfer':
      case 'value':
      case 'mint':
      case 'deploy+mint':
        available += amount
        break
      case 'auth':
      case 'deploy+auth':
        authority = true
        break
    }
  }
  let moved = 0n
  let values = 0n
  for (const { op, amount } of made) {
    if (op === 'transfer' || op === 'burn') moved += amount
    if (op === 'value') values += amount
  }
  const wanted = authority ? moved : moved + values
  // Binary values say not whether they are moved or minted: what is left over pays for them first.
  let left = wanted <= available ? available - moved : available
  for (const coin of made) {
    if (coin.op === 'mint' || coin.op === 'deploy+mint') coin.minted = coin.amount
    if (coin.op !== 'value') continue
    const paid = coin.amount < left ? coin.amount : left
    left -= paid
    coin.minted = coin.amount - paid
  }
  return made.filter(({ op }) => {
    switch (op) {
      case 'transfer':
      case 'burn':
        return wanted <= available
      case 'value':
        return authority || wanted <= available
      case 'mint':
      case 'auth':
        return authority
      default:
        return true
    }
  })
}

const claimed = ({ txid, outputs }: Transaction): SpecifiedCoin[] =>
  outputs.flatMap(({ script }, vout) => {
    const outpoint = makeOutpoint(txid, vout)
    const token = decodeBsv21(script, outpoint)
    if (!token) return []
    return [
      {
        outpoint: formatOutpoint(outpoint, '_'),
        token: token.id,
        op: token.op,
        amount: token.amt ?? 0n,
        minted: 0n,
        holder: holderOf(script),
        spent: false
      }
    ]
  })

const holderOf = (script: Uint8Array): string => {
  const owner = decodeOwner(script)
  if (owner !== undefined) return `p2pkh:${owner}`
  const cosign = decodeCosign(script)
  if (cosign) return `cos:${cosign.address}`
  const listing = decodeOrdLock(script)
  return listing ? `list:${listing.seller}` : ''
}

const summed = (all: readonly SpecifiedCoin[], token: string): SpecifiedToken => {
  const coins = all.filter(coin => coin.token === token)
  const minted = coins.reduce((total, coin) => total + coin.minted, 0n)
  const live = coins.filter(({ op, spent }) => !spent && CARRYING.includes(op))
  const balances: Record<string, bigint> = {}
  const addresses: Record<string, bigint> = {}
  for (const { holder, amount } of live) {
    if (holder === '') continue
    balances[holder] = (balances[holder] ?? 0n) + amount
    const address = holder.slice(holder.indexOf(':') + 1)
    addresses[address] = (addresses[address] ?? 0n) + amount
  }
  return {
    minted,
    supply: sum(live),
    burned: minted - sum(live),
    listed: sum(live.filter(({ holder }) => holder.startsWith('list:'))),
    balances: Object.fromEntries(Object.entries(balances).sort()),
    holders: Object.entries(addresses),
    outputs: coins.map(({ outpoint }) => outpoint).sort(),
    unspent: coins
      .filter(({ spent }) => !spent)
      .map(({ outpoint }) => outpoint)
      .sort()
  }
}

const CARRYING = ['deploy+mint', 'mint', 'transfer', 'value']

const sum = (coins: readonly SpecifiedCoin[]): bigint =>
  coins.reduce((total, { amount }) => total + amount, 0n)

/** Transactions in an order in which each comes after those that it spends, as far as these are among them. */
export const inOrder = (transactions: Iterable<Transaction>): Transaction[] => {
  const waiting = new Map([...transactions].map(each => [bytesKey(each.txid), each]))
  const ordered: Transaction[] = []
  const visit = (each: Transaction): void => {
    waiting.delete(bytesKey(each.txid))
    for (const { txid } of each.inputs) {
      const parent = waiting.get(bytesKey(txid))
      if (parent) visit(parent)
    }
    ordered.push(each)
  }
  for (const each of [...waiting.values()]) if (waiting.has(bytesKey(each.txid))) visit(each)
  return ordered
}
