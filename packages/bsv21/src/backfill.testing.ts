/** Transfers of one token between many holders, and a source that supplies them: for benchmarks of a backfill. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Beef, type Transaction } from '@quoin/chain'
import type { DevChain } from '@quoin/dev-chain'
import type { TokenId } from '@quoin/primitives'
import type { Store } from '@quoin/store'
import type { Delivery, FollowOptions, Source, SourceStatus, SourceTransaction } from './source/source.ts'
import * as t from './tokens.testing.ts'

const GROUP = 10
export const EACH = 10n ** 9n
const FUNDS = 1_000_000
/** As many as a file gives at a time. */
const DELIVERY = 256

export interface Account {
  readonly by: t.Person
  readonly token: { readonly from: Transaction; readonly vout: number; readonly amount: bigint }
  readonly money: { readonly from: Transaction; readonly vout: number; readonly satoshis: number }
}

/** A token that is spread over its holders, each of whom has money too. */
export const spread = async (chain: DevChain, holders: number) => {
  const people = Array.from({ length: holders }, (_, i) => t.person(i + 1))
  const [first] = people as [t.Person]
  const fund = () => t.at(chain.fund(first.address, 1000), 0, first)
  const supply = EACH * BigInt(holders + 1)
  const deployed = t.transaction([fund()], [t.deployMint(first, supply)])
  await chain.submit(deployed)
  const id = t.tokenIdOf(deployed)
  const transactions = [deployed]
  const accounts: Account[] = []
  let [last, vout, rest] = [deployed, 0, supply]
  for (let i = 0; i < holders; i += GROUP) {
    const group = people.slice(i, i + GROUP)
    rest -= EACH * BigInt(GROUP)
    const paid = group.map(person => t.transfer(id, EACH, t.paidTo(person)))
    const made = t.transaction(
      [t.at(last, vout, first), fund()],
      [...paid, t.transfer(id, rest, t.paidTo(first))]
    )
    await chain.submit(made)
    transactions.push(made)
    for (const [j, by] of group.entries()) {
      const money = { from: chain.fund(by.address, FUNDS), vout: 0, satoshis: FUNDS }
      transactions.push(money.from)
      accounts.push({ by, token: { from: made, vout: j, amount: EACH }, money })
    }
    ;[last, vout] = [made, GROUP]
  }
  chain.mine()
  return { id, accounts, beefs: transactions.map(({ txid }) => chain.beef(txid)) }
}

/** Everybody gives one to somebody else. */
export const round = (
  id: TokenId,
  accounts: readonly Account[],
  number: number
): [Transaction[], Account[]] => {
  const made: Transaction[] = []
  const after = accounts.map(({ by, token, money }, i): Account => {
    const to = accounts[(i * 7 + number) % accounts.length]!.by
    const [amount, satoshis] = [token.amount - 1n, money.satoshis - 20]
    const from = t.transaction(
      [t.at(token.from, token.vout, by), t.at(money.from, money.vout, by)],
      [
        t.transfer(id, 1n, t.paidTo(to)),
        t.transfer(id, amount, t.paidTo(by)),
        { satoshis, script: t.paidTo(by) }
      ]
    )
    made.push(from)
    return { by, token: { from, vout: 1, amount }, money: { from, vout: 2, satoshis } }
  })
  return [made, after]
}

export const toSourceTransaction = (transaction: Transaction): SourceTransaction => ({
  txid: transaction.txid,
  beef: Beef.of([{ txid: transaction.txid, transaction, bump: undefined }]),
  mined: undefined
})

/** A source that has what it is given. */
export class Stock implements Source {
  readonly name = 'stock'
  readonly status: SourceStatus = {
    state: 'reading',
    at: undefined,
    end: undefined,
    transactions: 0,
    lastError: undefined
  }
  #staged: readonly SourceTransaction[] = []

  give(staged: readonly SourceTransaction[]): void {
    this.#staged = staged
  }

  async *deliveries(_: Store, { signal }: FollowOptions = {}): AsyncGenerator<Delivery, void, undefined> {
    while (!signal?.aborted) {
      const transactions = this.#staged.slice(0, DELIVERY)
      this.#staged = this.#staged.slice(DELIVERY)
      if (transactions.length > 0) yield { transactions, reorgFrom: undefined, mark: () => undefined }
      else await sleep(5)
    }
  }
}
