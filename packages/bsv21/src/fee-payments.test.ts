import { Beef, type Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { formatTxid, type TokenId, type Txid } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AddressSource, FeePayments } from './fee-payments.ts'
import { bsv21 } from './keys.ts'
import { TokenNode } from './node.testing.ts'
import * as t from './tokens.testing.ts'

const XPUB =
  'xpub661MyMwAqRbcF221R74MPqdipLsgUevAAX4hZP2rywyEeShpbe3v2r9ciAvSGT6FB22TEmFLdUyeEDJL4ekG8s9H5WXbzDQPr6eW1zEYYy9'
const alice = t.person(1)

describe('payments for a token', () => {
  let chain: DevChain
  let store: Store
  let node: TokenNode
  let paid: Transaction[]
  let asked: number[]
  let fetched: string[]

  const source: AddressSource = {
    name: 'the chain',
    addressTransactions: async (_, from) => {
      asked.push(from)
      const all = paid.map(({ txid }) => ({ txid, height: chain.heightOf(txid) }))
      return all
        .filter(({ height = Number.POSITIVE_INFINITY }) => height >= from)
        .map(({ txid, height }) => ({
          txid,
          mined: height === undefined ? undefined : { height, index: 0n }
        }))
    },
    transaction: async (txid: Txid) => {
      fetched.push(formatTxid(txid))
      return Beef.parse(chain.beef(txid))
    }
  }
  const pay = (address: string, satoshis: number): void => {
    paid.push(chain.fund(address, satoshis))
  }

  beforeEach(async () => {
    ;[paid, asked, fetched] = [[], [], []]
    chain = new DevChain()
    store = await openStore('memory:')
    node = new TokenNode(store, { chain, feeXpub: XPUB, payments: source })
  })
  afterEach(async () => {
    await node.close()
    await store.close()
  })

  const deployed = async (): Promise<[Transaction, ReturnType<typeof t.tokenIdOf>]> => {
    const made = t.transaction(
      [t.at(chain.fund(alice.address, 1000), 0, alice)],
      [t.deployMint(alice, 1000n)]
    )
    await t.mined(chain, made)
    await node.pipeline.ingest.ingestBeef(chain.beef(made.txid))
    return [made, t.tokenIdOf(made)]
  }

  it('are looked for when it waits to be paid for, and then it is worked on', async () => {
    const [, id] = await deployed()
    await node.pipeline.settle()
    expect(await node.tokens.totals(id)).toMatchObject({ supply: 0n })
    pay((await node.activation.status(id)).feeAddress!, 5000)
    chain.mine()
    await node.pipeline.settle()
    expect(await node.activation.status(id)).toMatchObject({
      reason: 'paid for',
      credits: 5000n,
      balance: 4000n
    })
    expect(await node.tokens.totals(id)).toMatchObject({ supply: 1000n })
  })

  it('are fetched once each, from where it was on, and again when they are mined', async () => {
    const [, id] = await deployed()
    const { feeAddress } = await node.activation.status(id)
    const payments = new FeePayments({
      outputs: node.outputs,
      tracker: chain,
      source,
      feeAddresses: node.activation.feeAddresses!
    })
    pay(feeAddress!, 500)
    expect(await payments.sync(id)).toBe(1)
    expect(await payments.sync(id)).toBe(0)
    chain.mine()
    expect(await payments.sync(id)).toBe(1)
    expect(await payments.sync(id)).toBe(0)
    pay(feeAddress!, 600)
    chain.mine()
    expect(await payments.sync(id)).toBe(1)
    expect(asked.at(-1)).toBe(chain.heightOf(paid[0]!.txid))
    expect(fetched).toHaveLength(3)
    expect(await node.activation.status(id)).toMatchObject({ credits: 1100n })
  })

  it('are asked for 1,000 tokens at a time, in turn, of however many wait', async () => {
    const batch = store.batch()
    for (let i = 0; i < 2500; i++) {
      const token = `${i.toString(16).padStart(64, '0')}_0` as TokenId
      batch.use(bsv21.collections.idle).at().add(token, 1)
    }
    await batch.commit()
    const { addressTransactions } = source
    const addresses = new Set<string>()
    source.addressTransactions = async (address, from) => {
      addresses.add(address)
      return addressTransactions(address, from)
    }
    const counts: number[] = []
    for (let pass = 0; pass < 4; pass++) {
      await node.pipeline.settle()
      counts.push(asked.length)
    }
    source.addressTransactions = addressTransactions
    expect(counts).toEqual([1000, 2000, 2500, 3500])
    expect(addresses.size).toBe(2500)
  })

  it('that cannot be asked for now are asked for later, and hold up nothing', async () => {
    const [, id] = await deployed()
    const { addressTransactions } = source
    source.addressTransactions = async () => {
      throw new Error('out of order')
    }
    pay((await node.activation.status(id)).feeAddress!, 5000)
    chain.mine()
    await node.pipeline.settle()
    expect(await node.activation.status(id)).toMatchObject({ isActive: false })
    source.addressTransactions = addressTransactions
    await node.pipeline.settle()
    expect(await node.activation.status(id)).toMatchObject({ isActive: true })
  })
})
