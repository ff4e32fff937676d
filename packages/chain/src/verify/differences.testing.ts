/**
 * Where our verdict is not that of `Transaction.fromBEEF(…).verify(…)` in @bsv/sdk, why, and an example of each. But
 * for old coinbases, what is listed is what the SDK accepts and the network, or the format, does not.
 */
import { formatTxid } from '@quoin/primitives'
import type { Output, Transaction } from '../transaction.ts'
import { parseTransaction } from '../transaction.ts'
import { joined, makeKey, payTo, spend, type TestChain, withKeyHash } from './test-chain.testing.ts'

export interface Difference {
  readonly name: string
  readonly why: string
  /** Our verdict: `valid`, or what the message of the error says. */
  readonly ours: 'valid' | RegExp
  readonly theirs: 'valid' | 'invalid' | 'none'
  readonly make: (chain: TestChain) => Uint8Array
}

const key = makeKey('owner')
const pay = (satoshis: number): Output => ({ satoshis, script: payTo(key) })
const input = (from: Transaction, vout = 0) => ({ from, vout, unlock: withKeyHash(key) })

const pair = (chain: TestChain): [parent: Transaction, child: Transaction] => {
  const parent = chain.fund([pay(1000)])
  return [parent, spend({ inputs: [input(parent)], outputs: [pay(900)] })]
}

const replaced = (bytes: Uint8Array, from: string, to: string): Uint8Array => {
  const hex = Buffer.from(bytes).toString('hex')
  if (hex.split(from).length !== 2) throw new Error(`${from} is not there once`)
  return Uint8Array.from(Buffer.from(hex.replace(from, to), 'hex'))
}

const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** What the bytes of a BEEF may say. */
export const OF_FORM: readonly Difference[] = [
  {
    name: 'bytes that end too early',
    why: 'the SDK reads on past the end: of a transaction that is not there it makes one of nothing, which holds',
    ours: /^(the bytes end too early|\d+ \w+ do not fit)$/,
    theirs: 'valid',
    make: chain => {
      const [parent, child] = pair(chain)
      return chain.beef([parent, child]).slice(0, -child.raw.length - 1)
    }
  },
  {
    name: 'counts that the bytes cannot hold',
    why: 'the SDK believes them, and reads nothing a thousand million times',
    ours: /^\d+ \w+ do not fit$/,
    theirs: 'none',
    make: chain => {
      const [parent, child] = pair(chain)
      const { raw } = child
      const many = joined(raw.subarray(0, 4), Uint8Array.of(0xfe, 0, 0, 0, 0x40), raw.subarray(5))
      return replaced(chain.beef([parent, child]), toHex(raw), toHex(many))
    }
  },
  {
    name: 'a transaction that names a bump which does not prove it',
    why: 'the SDK ignores what a transaction names, and looks through all bumps',
    ours: /^bump that does not prove its transaction$/,
    theirs: 'valid',
    make: chain => {
      const [parent, child] = pair(chain)
      return replaced(chain.beef([parent, child]), `${toHex(child.raw)}00`, `${toHex(child.raw)}0100`)
    }
  },
  {
    name: 'formats of a transaction that there are not',
    why: 'to the SDK everything but 0 says that a bump is named',
    ours: /^unknown transaction format$/,
    theirs: 'valid',
    make: chain => {
      const [parent, child] = pair(chain)
      return replaced(chain.beef([parent, child]), `${toHex(parent.raw)}01`, `${toHex(parent.raw)}07`)
    }
  },
  {
    name: 'flags of a merkle node that there are not',
    why: 'the SDK looks at two bits of them',
    ours: /^unknown flags of a merkle node$/,
    theirs: 'valid',
    make: chain => {
      const [parent, child] = pair(chain)
      return replaced(chain.beef([parent, child]), `02${toHex(parent.txid)}`, `06${toHex(parent.txid)}`)
    }
  },
  {
    name: 'an unproven transaction before its parent',
    why: 'BRC-62 says that parents come first; the SDK does not mind',
    ours: /^transaction before its parent$/,
    theirs: 'valid',
    make: chain => {
      const [parent, child] = pair(chain)
      const grandchild = spend({ inputs: [input(child)], outputs: [pay(800)] })
      const late = spend({ inputs: [input(grandchild)], outputs: [pay(700)] })
      const [first, second] = [child, grandchild].map(({ raw }) => `${toHex(raw)}00`) as [string, string]
      return replaced(chain.beef([parent, child, grandchild, late]), first + second, second + first)
    }
  },
  {
    name: 'an Atomic BEEF with something unrelated',
    why: 'BRC-95 forbids it; the SDK does not look',
    ours: /^Atomic BEEF with a transaction that is not an ancestor of its subject$/,
    theirs: 'valid',
    make: chain => {
      const [parent, child] = pair(chain)
      const beef = chain.beef([chain.fund([pay(1)]), parent, child])
      return joined(Uint8Array.of(1, 1, 1, 1), child.txid, beef)
    }
  }
]

/** What a transaction may say. */
export const OF_RULES: readonly Difference[] = [
  {
    name: 'an output that one transaction spends twice',
    why: 'the SDK counts its value twice',
    ours: /it spends an output twice$/,
    theirs: 'valid',
    make: chain => {
      const parent = chain.fund([pay(1000)])
      return chain.beef([parent, spend({ inputs: [input(parent), input(parent)], outputs: [pay(2000)] })])
    }
  },
  {
    name: 'an output that two transactions of a BEEF spend',
    why: 'only one of them can ever be in a block; the SDK looks at each of them alone',
    ours: /spends the same output$/,
    theirs: 'valid',
    make: chain => {
      const parent = chain.fund([pay(1000)])
      const [one, two] = [900, 901].map(satoshis =>
        spend({ inputs: [input(parent)], outputs: [pay(satoshis)] })
      )
      return chain.beef([
        parent,
        one!,
        two!,
        spend({ inputs: [input(one!), input(two!)], outputs: [pay(1800)] })
      ])
    }
  },
  {
    name: 'a young coinbase that is spent',
    why: 'the SDK has the rule, but the wrong way round',
    ours: /a coinbase is spent 100 blocks later at the earliest$/,
    theirs: 'valid',
    make: chain => {
      const parent = chain.fund([pay(1000)], { coinbase: true })
      chain.height += 98
      return chain.beef([parent, spend({ inputs: [input(parent)], outputs: [pay(900)] })])
    }
  },
  {
    name: 'an old coinbase that is spent',
    why: 'the same',
    ours: 'valid',
    theirs: 'invalid',
    make: chain => {
      const parent = chain.fund([pay(1000)], { coinbase: true })
      chain.height += 200
      return chain.beef([parent, spend({ inputs: [input(parent)], outputs: [pay(900)] })])
    }
  },
  {
    name: 'a transaction of no inputs',
    why: 'there is none; to the SDK all of its inputs hold',
    ours: /it has no inputs$/,
    theirs: 'valid',
    make: chain => chain.beef([spend({ inputs: [], outputs: [pay(0)] })])
  },
  {
    name: 'a transaction of no outputs',
    why: 'there is none either',
    ours: /it has no outputs$/,
    theirs: 'valid',
    make: chain => {
      const parent = chain.fund([pay(1000)])
      return chain.beef([parent, spend({ inputs: [input(parent)], outputs: [] })])
    }
  },
  {
    name: 'a length that is longer than needed',
    why: 'the network refuses it, since it is not signed; the SDK hashes other bytes than those that it was given',
    ours: /a length is not in its shortest form$/,
    theirs: 'valid',
    make: chain => {
      const [parent, child] = pair(chain)
      const { raw } = child
      const changed = parseTransaction(joined(raw.subarray(0, 4), Uint8Array.of(0xfd, 1, 0), raw.subarray(5)))
      if (formatTxid(changed.txid) === formatTxid(child.txid)) throw new Error('the same bytes')
      return chain.beef([parent, changed])
    }
  }
]
