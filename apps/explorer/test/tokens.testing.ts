/** Tokens: one that many hold and that is for sale, and one that was only deployed. */
import { topicOf } from '@quoin/bsv21'
import type { Transaction } from '@quoin/chain'
import type { TokenId } from '@quoin/primitives'
import type { Node } from 'quoin'
import {
  at,
  binary,
  burn,
  deployAuth,
  deployMint,
  type Fields,
  listedBy,
  type Person,
  paidTo,
  person,
  tokenIdOf,
  transaction,
  transfer
} from '../../../packages/bsv21/src/tokens.testing.ts'

export interface TokenData {
  readonly gold: TokenId
  readonly plain: TokenId
  /** Who has the most of the first. */
  readonly holder: Person
  /** Deploys one more. */
  deploy(fields: Fields, amount?: bigint): Promise<TokenId>
  /** Deploys one in the binary form, with the symbol BINARY. */
  deployBinary(amount: bigint): Promise<TokenId>
}

export const writeTokens = async ({ dev, engine }: Node): Promise<TokenData> => {
  const { chain } = dev!
  const submit = async (made: Transaction, token?: TokenId): Promise<void> => {
    await chain.submit(made)
    await engine.submit({
      beef: chain.beef(made.txid),
      topics: ['tm_bsv21', ...(token ? [topicOf(token)] : [])]
    })
  }
  const people = Array.from({ length: 12 }, (_, i) => person(i + 1))
  const [maker, ...others] = people as [Person, ...Person[]]
  const deployed = async (output: ReturnType<typeof deployMint>): Promise<Transaction> => {
    const made = transaction([at(chain.fund(paidTo(maker), 10_000), 0, maker)], [output])
    await submit(made, tokenIdOf(made))
    return made
  }
  const first = await deployed(deployMint(maker, 21_000_000n, { sym: 'GOLD', dec: '2' }))
  const gold = tokenIdOf(first)
  const shares = others.map((_, i) => BigInt(5_000_000 >> i))
  const given = shares.reduce((sum, each) => sum + each, 0n)
  const spread = transaction(
    [at(first, 0, maker), at(chain.fund(paidTo(maker), 10_000), 0, maker)],
    [
      ...others.map((other, i) => transfer(gold, shares[i]!, paidTo(other))),
      transfer(gold, 21_000_000n - given - 1_500_000n, paidTo(maker)),
      transfer(gold, 1_000_000n, listedBy(maker, 25_000)),
      burn(gold, 500_000n)
    ]
  )
  await submit(spread, gold)
  const second = await deployed(deployAuth(maker, { sym: 'PLAIN' }))
  return {
    gold,
    plain: tokenIdOf(second),
    holder: maker,
    deployBinary: async amount =>
      tokenIdOf(await deployed(binary(undefined, amount, paidTo(others[0]!), { sym: 'BINARY', dec: 2n }))),
    deploy: async (fields, amount = 1000n) => tokenIdOf(await deployed(deployMint(maker, amount, fields)))
  }
}
