/**
 * BEEFs verified and parsed, by us and by @bsv/sdk, on the sets of `sets.testing.ts`; and what a hostile one costs. Both
 * sides get bytes and take turns through the same BEEFs, so that the SDK finds the tables of most keys in its cache,
 * which it does not in the life of a node.
 */

import { Transaction as SdkTransaction } from '@bsv/sdk'
import { bytesKey } from '@quoin/primitives'
import { suite } from '../../../../bench/harness.ts'
import { Beef, writeBeef } from '../beef.ts'
import { Bump } from '../merkle/bump.ts'
import type { Output, Transaction } from '../transaction.ts'
import { type Case, makeCase, SETS, type SetName } from './sets.testing.ts'
import { makeKey, payTo, spend, TestChain, withKeyHash } from './test-chain.testing.ts'
import type { KnownLookup } from './unverified-ancestry.ts'
import { verifyBeef } from './verify.ts'

interface Sample extends Case {
  readonly beef: Uint8Array
}

export default suite(async ({ compare, growth, note, quick }) => {
  const count = quick ? 10 : 50
  const samples = new Map<SetName, readonly Sample[]>()
  for (const set of SETS) {
    const cases = await Promise.all(Array.from({ length: count }, (_, seed) => makeCase(set, seed)))
    const made = cases.map(each => ({ ...each, beef: each.chain.beef(each.transactions) }))
    samples.set(set, made)
    note(
      `set ${set}: ${Math.round(made.reduce((sum, { beef }) => sum + beef.length, 0) / count)} bytes on average`
    )
  }

  for (const set of SETS) {
    compare(`verify ${set}`, {
      unit: 'us/op',
      ours: inTurn(samples.get(set)!, ({ beef, chain }) => verifyBeef(Beef.parse(beef), { tracker: chain })),
      peers: { '@bsv/sdk': inTurn(samples.get(set)!, verifyBySdk) }
    })
  }

  for (const set of ['a', 'b10'] as const) {
    // All but the last transaction were verified before; the SDK has no way to be told.
    compare(`verify ${set}, ancestors known`, {
      unit: 'us/op',
      ours: inTurn(samples.get(set)!.map(withKnown), ({ beef, chain, known }) =>
        verifyBeef(Beef.parse(beef), { tracker: chain, known })
      ),
      peers: { '@bsv/sdk': inTurn(samples.get(set)!, verifyBySdk) }
    })
  }

  for (const set of SETS) {
    compare(`parse ${set}`, {
      unit: 'us/op',
      ours: inTurn(samples.get(set)!, ({ beef }) => Beef.parse(beef)),
      peers: { '@bsv/sdk': inTurn(samples.get(set)!, ({ beef }) => SdkTransaction.fromBEEF(beef as never)) }
    })
  }

  for (const [name, make] of Object.entries(HOSTILE)) {
    const work = (size: number) => {
      const chain = new TestChain()
      const beef = make(chain, size * 1000)
      return () => verifyBeef(Beef.parse(beef), { tracker: chain })
    }
    growth(`hostile: ${name},`, [100], work, { unit: 'ms/op', of: 'kB' })
  }
})

const inTurn = <S>(samples: readonly S[], work: (sample: S) => unknown): (() => unknown) => {
  let next = 0
  return () => work(samples[next++ % samples.length]!)
}

const verifyBySdk = async ({ beef, chain }: Sample): Promise<boolean> => {
  const isValid = await SdkTransaction.fromBEEF(beef as never).verify(chain)
  if (!isValid) throw new Error('the SDK refuses it')
  return isValid
}

const withKnown = (sample: Sample): Sample & { readonly known: KnownLookup } => {
  const table = new Map(
    sample.transactions.slice(0, -1).map(transaction => {
      const height = sample.chain.bumpOf(transaction)?.height
      return [bytesKey(transaction.txid), { transaction, height }]
    })
  )
  return { ...sample, known: async txids => txids.map(txid => table.get(bytesKey(txid))) }
}

const key = makeKey('attacker')
const pay = (satoshis: number): Output => ({ satoshis, script: payTo(key) })
const input = (from: Transaction, vout: number) => ({ from, vout, unlock: withKeyHash(key) })

/** BEEFs of about so many bytes that cost as much as their makers could think of. */
const HOSTILE: Readonly<Record<string, (chain: TestChain, size: number) => Uint8Array>> = {
  'every ancestor twice': (chain, size) => {
    const all = [chain.fund([pay(1e9), pay(1e9)])]
    for (let bytes = 0; bytes < size; bytes += all.at(-1)!.raw.length) {
      const from = all.at(-1)!
      const outputs = [pay(1e9), pay(1e9 - all.length)]
      all.push(spend({ inputs: [input(from, 0), input(from, 1)], outputs }))
    }
    return chain.beef(all)
  },
  'one transaction of inputs': (chain, size) => {
    const parent = chain.fund(Array.from({ length: Math.floor(size / 183) }, () => pay(1)))
    const inputs = parent.outputs.map((_, vout) => input(parent, vout))
    return chain.beef([parent, spend({ inputs, outputs: [pay(1)] })])
  },
  'one bump of txids': (chain, size) => {
    const parents = Array.from({ length: Math.floor(size / 122) }, () => chain.fund([pay(1)]))
    const bump = Bump.ofBlock(
      1,
      parents.map(({ txid }) => txid)
    )
    chain.roots.set(1, Buffer.from(bump.root).reverse().toString('hex'))
    return writeBeef({
      version: 1,
      transactions: parents.map(transaction => ({ txid: transaction.txid, transaction, bump }))
    })
  },
  'nothing but bumps': (chain, size) => {
    const parents = Array.from({ length: Math.floor(size / 720) }, () => chain.fund([pay(1)]))
    return chain.beef([
      ...parents,
      spend({ inputs: parents.map(parent => input(parent, 0)), outputs: [pay(1)] })
    ])
  }
}
