/**
 * BEEFs as overlay nodes get them, with distinct keys throughout:
 *
 *     a    one P2PKH input from a proved parent, two outputs
 *     b10  ten unproven ancestors and one more
 *     c    a new BRC-35 token (PushDrop, signed by a wallet), paid for with P2PKH
 *     cu   its successor: spends the token and P2PKH
 *     d    a BSV21 transfer: spends an inscription on P2PKH and P2PKH, makes two inscriptions and change
 */
import { CompletedProtoWallet, KeyDeriver, PrivateKey, PushDrop, type WalletProtocol } from '@bsv/sdk'
import { sha256 } from '../hash.ts'
import type { Transaction } from '../transaction.ts'
import {
  envelope,
  joined,
  type Key,
  keyOf,
  makeKey,
  payTo,
  spend,
  TestChain,
  withKey,
  withKeyHash
} from './test-chain.testing.ts'

export const SETS = ['a', 'b10', 'c', 'cu', 'd'] as const
export type SetName = (typeof SETS)[number]

/** Proved parents first, the subject last. */
type Make = (chain: TestChain, seed: string) => Transaction[] | Promise<Transaction[]>

const text = new TextEncoder()
const PROTOCOL: WalletProtocol = [1, 'kvstore']

const pay = (key: Key, satoshis = 1000) => ({ satoshis, script: payTo(key) })

/** A token as `GlobalKVStore` of @bsv/sdk makes it, and the key that may spend it. */
const token = async (seed: string, value: string): Promise<{ script: Uint8Array; key: Key }> => {
  const root = new PrivateKey([...sha256(text.encode(seed))])
  const keyID = `key of ${seed}`
  const controller = root.toPublicKey().toString()
  const fields = [JSON.stringify(PROTOCOL), keyID, value, controller, JSON.stringify(['tag', seed])]
  const lock = await new PushDrop(new CompletedProtoWallet(root)).lock(
    fields.map((field, i) => [...(i === 3 ? Buffer.from(field, 'hex') : text.encode(field))]),
    PROTOCOL,
    keyID,
    'anyone',
    true
  )
  const secret = new KeyDeriver(root).derivePrivateKey(PROTOCOL, keyID, 'anyone').toArray('be', 32)
  return { script: lock.toUint8Array(), key: keyOf(Uint8Array.from(secret)) }
}

const transfer = (key: Key, amount: number) => ({
  satoshis: 1,
  script: joined(
    envelope(
      'application/bsv-20',
      JSON.stringify({ p: 'bsv-20', op: 'transfer', id: `${'ab'.repeat(32)}_0`, amt: `${amount}` })
    ),
    payTo(key)
  )
})

const MAKERS: Readonly<Record<SetName, Make>> = {
  a: (chain, seed) => {
    const key = makeKey(seed)
    const parent = chain.fund([pay(key)])
    const outputs = [pay(makeKey(`${seed} to`), 600), pay(makeKey(`${seed} change`), 390)]
    return [parent, spend({ inputs: [{ from: parent, vout: 0, unlock: withKeyHash(key) }], outputs })]
  },
  b10: (chain, seed) => {
    let key = makeKey(seed)
    const chained = [chain.fund([pay(key, 100_000)])]
    for (let i = 0; i < 11; i++) {
      const next = makeKey(`${seed} ${i}`)
      const from = chained.at(-1)!
      const outputs = [pay(next, from.outputs[0]!.satoshis - 100), pay(makeKey(`${seed} ${i} to`), 50)]
      chained.push(spend({ inputs: [{ from, vout: 0, unlock: withKeyHash(key) }], outputs }))
      key = next
    }
    return chained
  },
  c: async (chain, seed) => {
    const key = makeKey(seed)
    const parent = chain.fund([pay(key)])
    const { script } = await token(seed, 'a value of some length, as they are')
    const outputs = [{ satoshis: 1, script }, pay(makeKey(`${seed} change`), 900)]
    return [parent, spend({ inputs: [{ from: parent, vout: 0, unlock: withKeyHash(key) }], outputs })]
  },
  cu: async (chain, seed) => {
    const key = makeKey(seed)
    const [old, next] = [await token(seed, 'a value'), await token(seed, 'another value')]
    const parent = chain.fund([{ satoshis: 1, script: old.script }])
    const money = chain.fund([pay(key)])
    const inputs = [
      { from: parent, vout: 0, unlock: withKey(old.key) },
      { from: money, vout: 0, unlock: withKeyHash(key) }
    ]
    const outputs = [{ satoshis: 1, script: next.script }, pay(makeKey(`${seed} change`), 900)]
    return [parent, money, spend({ inputs, outputs })]
  },
  d: (chain, seed) => {
    const [key, other] = [makeKey(seed), makeKey(`${seed} money`)]
    const parent = chain.fund([transfer(key, 100)])
    const money = chain.fund([pay(other)])
    const inputs = [
      { from: parent, vout: 0, unlock: withKeyHash(key) },
      { from: money, vout: 0, unlock: withKeyHash(other) }
    ]
    const outputs = [
      transfer(makeKey(`${seed} to`), 60),
      transfer(makeKey(`${seed} rest`), 40),
      pay(other, 900)
    ]
    return [parent, money, spend({ inputs, outputs })]
  }
}

export interface Case {
  readonly chain: TestChain
  readonly transactions: readonly Transaction[]
}

export const makeCase = async (name: SetName, seed: number, chain = new TestChain()): Promise<Case> => {
  return { chain, transactions: await MAKERS[name](chain, `${name} ${seed}`) }
}
