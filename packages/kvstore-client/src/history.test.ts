/** Histories over transactions that are made for it, and what `Historian` of @bsv/sdk makes of them. */
import {
  Beef,
  PrivateKey,
  ProtoWallet,
  PushDrop,
  Transaction,
  UnlockingScript,
  Utils,
  type WalletInterface,
  type WalletProtocol
} from '@bsv/sdk'
import { kvStoreInterpreter } from '@bsv/sdk/kvstore/kvStoreInterpreter'
import { Historian } from '@bsv/sdk/overlay-tools/Historian'
import { describe, expect, it } from 'vitest'
import { Bundle } from './bundle.ts'
import { entryAt } from './entry.ts'
import { walkHistory } from './history.ts'

const PROTOCOL: WalletProtocol = [1, 'kvstore']
const ALICE = 11
const MALLORY = 12
const controllerOf = (root: number): string => new PrivateKey(root).toPublicKey().toString()

interface Made {
  readonly by?: number
  /** Whose it says it is. */
  readonly of?: number
  readonly key?: string
  readonly value: string
}

const tokenOf = ({ by = ALICE, of = by, key = 'key', value }: Made) =>
  new PushDrop(new ProtoWallet(new PrivateKey(by)) as unknown as WalletInterface).lock(
    [
      Utils.toArray(JSON.stringify(PROTOCOL), 'utf8'),
      Utils.toArray(key, 'utf8'),
      Utils.toArray(value, 'utf8'),
      Utils.toArray(controllerOf(of), 'hex')
    ],
    PROTOCOL,
    key,
    'anyone',
    true
  )

let count = 0
/** A transaction that spends outputs of others and has these tokens. Without one to spend, it spends what nobody has. */
const transaction = async (
  spends: readonly (readonly [Transaction, number])[],
  ...tokens: Made[]
): Promise<Transaction> => {
  const made = new Transaction()
  if (spends.length === 0) {
    made.addInput({
      sourceTXID: (++count).toString(16).padStart(64, '0'),
      sourceOutputIndex: 0,
      unlockingScript: new UnlockingScript(),
      sequence: 0xffffffff
    })
  }
  for (const [sourceTransaction, sourceOutputIndex] of spends) {
    made.addInput({
      sourceTransaction,
      sourceTXID: sourceTransaction.id('hex'),
      sourceOutputIndex,
      unlockingScript: new UnlockingScript(),
      sequence: 0xffffffff
    })
  }
  for (const each of tokens) made.addOutput({ satoshis: 1, lockingScript: await tokenOf(each) })
  return made
}

const ours = (tip: Transaction, vout: number, all: readonly Transaction[]): string[] => {
  const beef = new Beef()
  for (const each of all) beef.mergeRawTx(each.toBinary())
  return walkHistory(entryAt(new Bundle(Uint8Array.from(beef.toBinary())), tip.id('hex'), vout)!).map(
    ({ value }) => value
  )
}
const theirs = (tip: Transaction): Promise<string[]> =>
  new Historian(kvStoreInterpreter).buildHistory(tip, { key: 'key', protocolID: PROTOCOL })

describe('a history', () => {
  it('§3.6 is from the oldest to the newest', async () => {
    const one = await transaction([], { value: 'one' })
    const two = await transaction([[one, 0]], { value: 'two' })
    const three = await transaction([[two, 0]], { value: 'three' })
    expect(ours(three, 0, [one, two, three])).toEqual(['one', 'two', 'three'])
    expect(await theirs(three)).toEqual(['one', 'two', 'three'])
  })

  it('§3.6 has only tokens that verify, and only of the same controller (H1)', async () => {
    const one = await transaction([], { value: 'one' }, { by: MALLORY, value: 'of another controller' })
    const two = await transaction(
      [
        [one, 0],
        [one, 1]
      ],
      { value: 'two' },
      { by: MALLORY, of: ALICE, value: 'forged' },
      { key: 'another key', value: 'of another key' }
    )
    const three = await transaction(
      [
        [two, 1],
        [two, 0],
        [two, 2]
      ],
      { value: 'three' }
    )
    expect(ours(three, 0, [one, two, three])).toEqual(['one', 'two', 'three'])
    expect(await theirs(three)).toEqual(['of another controller', 'one', 'forged', 'two', 'three'])
  })

  it('§3.6 is in order where transactions have several tokens, and several end in one (H2)', async () => {
    const one = await transaction([], { value: 'one' })
    const other = await transaction([], { value: 'duplicate' })
    const later = await transaction([[other, 0]], { value: 'duplicate, updated' })
    const merged = await transaction(
      [
        [one, 0],
        [later, 0]
      ],
      { value: 'merged' },
      { value: 'beside it' }
    )
    const all = [one, other, later, merged]
    expect(ours(merged, 0, all)).toEqual(['one', 'duplicate', 'duplicate, updated', 'merged'])
    expect(ours(merged, 1, all)).toEqual(['one', 'duplicate', 'duplicate, updated', 'beside it'])
    expect(await theirs(merged)).toEqual(['duplicate', 'duplicate, updated', 'one', 'beside it', 'merged'])
  })

  it('has each token once, also where two paths lead to it', async () => {
    const one = await transaction([], { value: 'one' }, { value: 'two' })
    const left = await transaction([[one, 0]], { value: 'left' })
    const right = await transaction([[one, 1]], { value: 'right' })
    const merged = await transaction(
      [
        [left, 0],
        [right, 0]
      ],
      { value: 'merged' }
    )
    const walked = ours(merged, 0, [one, left, right, merged])
    expect(walked).toEqual(['one', 'left', 'two', 'right', 'merged'])
  })

  it('is walked in no more steps than it has, where each update also spends the change of the one before', async () => {
    const all = [await transaction([], { value: 'v0' }, { key: 'change', value: 'c' })]
    for (let i = 1; i <= 60; i++) {
      all.push(
        await transaction(
          [
            [all.at(-1)!, 0],
            [all.at(-1)!, 1]
          ],
          { value: `v${i}` },
          { key: 'change', value: 'c' }
        )
      )
    }
    expect(ours(all.at(-1)!, 0, all)).toEqual(all.map((_, i) => `v${i}`))
  })

  it('ends where the transactions end that came along', async () => {
    const one = await transaction([], { value: 'one' })
    const two = await transaction([[one, 0]], { value: 'two' })
    const three = await transaction([[two, 0]], { value: 'three' })
    expect(ours(three, 0, [two, three])).toEqual(['two', 'three'])
  })
})
