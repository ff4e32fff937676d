/** The development chain: what it gives out is real, and holds wherever it is checked. */
import { P2PKH, PrivateKey, SatoshisPerKilobyte, Transaction as SdkTransaction } from '@bsv/sdk'
import {
  Beef,
  formatHash,
  HEADER_LENGTH,
  HeaderStore,
  type Transaction,
  verifyBeef,
  writeTransaction
} from '@quoin/chain'
import { bytesKey, formatTxid, makeOutpoint, OP, parseTxid } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { describe, expect, it } from 'vitest'
import { ANYONE, child, names, sdk, spend } from './dev.testing.ts'
import { DevChain } from './dev-chain.ts'
import { Miner } from './miner.ts'

describe('blocks', () => {
  it('are mined on demand, with what waits, after a coinbase of their own', async () => {
    const chain = new DevChain()
    expect(chain.height).toBe(0)
    const paid = chain.fund(ANYONE, 1000)
    const spent = child(paid)
    await chain.submit(spent)
    expect(chain.mempool.map(({ txid }) => formatTxid(txid))).toStrictEqual(
      [paid, spent].map(({ txid }) => formatTxid(txid))
    )
    const [header, empty] = chain.mine(2)
    expect(chain.mempool).toStrictEqual([])
    expect([header!.height, empty!.height]).toStrictEqual([3, 4])
    const [coinbase, , first, second] = chain.block(3)!
    expect(coinbase!.isCoinbase).toBe(true)
    expect([first, second]).toStrictEqual([paid, spent])
    expect(chain.block(4)).toHaveLength(2)
    expect([chain.heightOf(paid.txid), chain.heightOf(spent.txid)]).toStrictEqual([3, 3])
    expect(formatTxid(chain.spenderOf(makeOutpoint(paid.txid, 0))!)).toBe(formatTxid(spent.txid))
    expect(chain.spenderOf(makeOutpoint(spent.txid, 0))).toBeUndefined()
  })

  it('have coinbases that begin with their height, so that no txid comes twice', () => {
    const chain = new DevChain()
    chain.mine(300)
    const seen = new Set<string>()
    for (let height = 1; height <= 300; height++) {
      for (const { txid } of chain.block(height)!) seen.add(bytesKey(txid))
      const script = chain.block(height)![0]!.inputs[0]!.script
      if (height === 16) expect(script[0]).toBe(OP.N16)
      if (height === 17) expect([...script.subarray(0, 2)]).toStrictEqual([1, 17])
      if (height === 128) expect([...script.subarray(0, 3)]).toStrictEqual([2, 128, 0])
    }
    expect(seen.size).toBe(2 * 300 - 1)
  })

  it('follow the rules of the network, by any clock', async () => {
    const clocks: [string, DevChain, () => number][] = [
      ['of its own', new DevChain(), () => Date.now() / 1000],
      ['that stands still', new DevChain({ clock: () => 1_700_000_000 }), () => 1_700_000_000],
      ['that goes backwards', new DevChain({ clock: () => 1 }), () => 1_300_000_000]
    ]
    for (const [, chain, clock] of clocks) {
      chain.mine(60)
      const store = await openStore('memory:')
      const headers = await HeaderStore.open(store, { network: 'regtest', clock })
      expect((await headers.add(await chain.headers(1, 100))).tip.height).toBe(60)
      await store.close()
    }
  })

  it('are the same for the same seed and clock, and others for others', async () => {
    const bytesOf = async (options: ConstructorParameters<typeof DevChain>[0]): Promise<string> => {
      const chain = new DevChain(options)
      const paid = chain.fund(ANYONE, 5000)
      await chain.submit(child(paid))
      chain.mine(3)
      await chain.reorg(2)
      return JSON.stringify(chain)
    }
    expect(await bytesOf({})).toBe(await bytesOf({ seed: 'quoin', network: 'regtest' }))
    expect(await bytesOf({ clock: () => 1_700_000_000 })).toBe(
      await bytesOf({ clock: () => 1_700_000_000.5 })
    )
    expect(await bytesOf({})).not.toBe(await bytesOf({ seed: 'another' }))
    expect(await bytesOf({})).not.toBe(await bytesOf({ clock: () => 1_700_000_000 }))
  })

  it('can be asked for as headers, as a tip and as merkle roots', async () => {
    const chain = new DevChain()
    chain.mine(5)
    expect(await chain.headers(2, 2)).toHaveLength(2 * HEADER_LENGTH)
    expect(await chain.headers(4, 10)).toHaveLength(2 * HEADER_LENGTH)
    expect(await chain.headers(6, 10)).toHaveLength(0)
    expect((await chain.tip()).hash).toStrictEqual(chain.header(5)!.header.hash)
    const root = formatHash(chain.header(4)!.header.merkleRoot)
    expect(await chain.isValidRootForHeight(root, 4)).toBe(true)
    expect(await chain.isValidRootForHeight(root, 3)).toBe(false)
    expect(await chain.isValidRootForHeight(root, 9)).toBe(false)
    expect(await chain.currentHeight()).toBe(5)
  })
})

describe('coins', () => {
  it('are paid to addresses and scripts, by signed transactions that the SDK and Quoin verify', async () => {
    const chain = new DevChain()
    const key = PrivateKey.fromRandom()
    const paid = chain.fund(key.toAddress(), 123_456)
    expect(paid.outputs[0]).toStrictEqual({
      satoshis: 123_456,
      script: Uint8Array.from(new P2PKH().lock(key.toAddress()).toBinary())
    })
    for (const version of [1, 2] as const) {
      expect(await sdk(chain, paid.txid, version).verify(chain)).toBe(true)
      await verifyBeef(Beef.parse(chain.beef(paid.txid, { version })), { tracker: chain })
    }
    const plain = chain.beef(paid.txid, { atomic: false })
    expect(await SdkTransaction.fromBEEF([...plain]).verify(chain)).toBe(true)
  })

  it('can be spent with the SDK', async () => {
    const chain = new DevChain()
    const key = PrivateKey.fromRandom()
    const paid = chain.fund(key.toAddress(), 10_000)
    const tx = new SdkTransaction()
    tx.addInput({
      sourceTransaction: sdk(chain, paid.txid),
      sourceOutputIndex: 0,
      unlockingScriptTemplate: new P2PKH().unlock(key)
    })
    tx.addOutput({ satoshis: 9000, lockingScript: new P2PKH().lock(key.toAddress()) })
    await tx.fee(new SatoshisPerKilobyte(1))
    await tx.sign()
    const txid = await chain.submit(Uint8Array.from(tx.toBinary()))
    expect(await sdk(chain, txid).verify(chain)).toBe(true)
    chain.mine()
    expect(await sdk(chain, txid).verify(chain)).toBe(true)
  })

  it('never need a coinbase to be proved, however old it is, which the SDK and the network would not agree on', async () => {
    const chain = new DevChain()
    chain.mine(250)
    for (let i = 0; i < 30; i++) {
      const paid = chain.fund(ANYONE, 4e8)
      const { transactions } = Beef.parse(chain.beef(paid.txid))
      expect(transactions.some(({ transaction }) => transaction!.isCoinbase)).toBe(false)
      expect(await sdk(chain, paid.txid).verify(chain)).toBe(true)
    }
  })

  it('come in any number and amount, blocks being mined where there are too few', async () => {
    const chain = new DevChain()
    const paid = Array.from({ length: 40 }, () => chain.fund(ANYONE, 1000))
    expect(chain.height).toBe(2)
    expect(new Set(paid.map(({ txid }) => bytesKey(txid))).size).toBe(40)
    const rich = chain.fund(ANYONE, 500e8)
    expect(rich.outputs[0]!.satoshis).toBe(500e8)
    expect(await sdk(chain, rich.txid).verify(chain)).toBe(true)
    expect(chain.fund(ANYONE, 0).outputs[0]!.satoshis).toBe(0)
    for (const wrong of [-1, 0.5, Number.NaN, 2e12]) {
      expect(() => chain.fund(ANYONE, wrong)).toThrow(expect.objectContaining({ code: 'ERR_TX_INVALID' }))
    }
    expect(() => chain.fund('no address', 1)).toThrow(expect.objectContaining({ code: 'ERR_KEY_VALUE' }))
  })
})

describe('a transaction', () => {
  it('is known by whether it is mined', async () => {
    const chain = new DevChain()
    const { txid } = chain.fund(ANYONE, 1000)
    expect(await chain.proof(txid)).toStrictEqual({ status: 'unmined' })
    chain.mine()
    const answer = await chain.proof(txid)
    expect(answer.status === 'mined' && answer.bump.height).toBe(3)
    expect(answer.status === 'mined' && formatHash(answer.bump.rootOf(txid)!)).toBe(
      formatHash(chain.header(3)!.header.merkleRoot)
    )
    const nobody = parseTxid('11'.repeat(32))
    expect(await chain.proof(nobody)).toStrictEqual({ status: 'unknown' })
    expect(chain.transaction(nobody)).toBeUndefined()
    expect(() => chain.beef(nobody)).toThrow(expect.objectContaining({ code: 'ERR_TX_UNKNOWN' }))
  })

  it('may be sent twice', async () => {
    const chain = new DevChain()
    const spent = child(chain.fund(ANYONE, 1000))
    await chain.submit(spent)
    await chain.submit(spent.raw)
    expect(chain.mempool).toHaveLength(2)
    chain.mine()
    await chain.submit(spent)
    expect(chain.mempool).toHaveLength(0)
  })

  it('is refused when it cannot be', async () => {
    const chain = new DevChain()
    const paid = chain.fund(ANYONE, 1000)
    const nowhere = writeTransaction({
      version: 1,
      inputs: [],
      outputs: [{ satoshis: 9, script: ANYONE }],
      lockTime: 0
    })
    const refused: [string, Transaction | Uint8Array, string][] = [
      ['unknown parent', child(child(paid)), 'ERR_TX_UNKNOWN'],
      ['unknown output', spend([[paid, 5]], 1), 'ERR_TX_UNKNOWN'],
      ['worth more', spend([[paid, 0]], 1001), 'ERR_TX_INVALID'],
      [
        'twice the same',
        spend(
          [
            [paid, 0],
            [paid, 0]
          ],
          1500
        ),
        'ERR_TX_INVALID'
      ],
      ['of nothing', nowhere, 'ERR_TX_INVALID'],
      ['a coinbase', new Miner('another').coinbase(9), 'ERR_TX_INVALID'],
      ['of a coinbase', spend([[chain.block(2)![0]!, 0]], 1), 'ERR_TX_INVALID'],
      ['no transaction', Uint8Array.of(1, 2, 3), 'ERR_TX_FORMAT']
    ]
    for (const [, transaction, code] of refused) {
      await expect(chain.submit(transaction)).rejects.toMatchObject({ code })
    }
    expect(chain.mempool).toHaveLength(1)
  })

  it('that spends what another does is refused, or replaces it with all that descends from it', async () => {
    const chain = new DevChain()
    const paid = chain.fund(ANYONE, 1000)
    const [first, rival] = [child(paid), child(paid, 1)]
    const grandchild = child(child(first))
    for (const each of [first, child(first), grandchild]) await chain.submit(each)
    await expect(chain.submit(rival)).rejects.toMatchObject({
      code: 'ERR_TXO_CONFLICT',
      details: { spender: formatTxid(first.txid) }
    })
    await chain.submit(rival, { replace: true })
    expect(chain.mempool).toStrictEqual([paid, rival])
    expect(chain.transaction(grandchild.txid)).toBeUndefined()
    await chain.submit(child(rival))
    chain.mine()
    await expect(chain.submit(first, { replace: true })).rejects.toMatchObject({ code: 'ERR_TXO_CONFLICT' })
  })

  it('cannot replace what it descends from', async () => {
    const chain = new DevChain()
    const paid = chain.fund(ANYONE, 1000)
    const other = chain.fund(ANYONE, 1000)
    const first = spend([[paid, 0]], 1000)
    await chain.submit(first)
    const both = spend(
      [
        [paid, 0],
        [first, 0],
        [other, 0]
      ],
      2000
    )
    await expect(chain.submit(both, { replace: true })).rejects.toMatchObject({ code: 'ERR_TXO_CONFLICT' })
    expect(chain.mempool).toContain(first)
  })

  it('gives the miner its coins back when it is replaced', async () => {
    const chain = new DevChain()
    chain.mine(2)
    const coin = chain.block(2)![1]!
    const stolen = writeTransaction({
      version: 1,
      inputs: coin.outputs.map((_, vout) => ({
        txid: coin.txid,
        vout,
        script: new Uint8Array(),
        sequence: 0
      })),
      outputs: [{ satoshis: 1, script: ANYONE }],
      lockTime: 0
    })
    await chain.submit(stolen)
    await chain.submit(spend([[coin, 0]], 5), { replace: true })
    expect(chain.mempool).toHaveLength(1)
    chain.fund(ANYONE, 1000)
    expect(chain.height).toBe(2)
  })

  it('has its scripts checked where somebody does that', async () => {
    const verify = async (transaction: Transaction): Promise<void> => {
      await new Promise(resolve => setImmediate(resolve))
      if (transaction.inputs.some(({ sequence }) => sequence === 0xfffffffe)) throw new Error('wrong script')
    }
    const chain = new DevChain({ verify })
    const paid = chain.fund(ANYONE, 1000)
    await expect(chain.submit(child(paid, 1))).rejects.toThrow('wrong script')
    // Of two that are checked at the same time one is late.
    const outcomes = await Promise.allSettled([chain.submit(child(paid)), chain.submit(child(paid, 2))])
    expect(outcomes.map(({ status }) => status).sort()).toStrictEqual(['fulfilled', 'rejected'])
    const again = child(chain.fund(ANYONE, 1000))
    await Promise.all([chain.submit(again), chain.submit(again)])
    chain.mine()
    await expect(chain.reorg(1, { include: [child(paid, 1)] })).rejects.toThrow('wrong script')
    await expect(chain.reorg(1, { include: [child(paid, 2), child(child(paid, 2))] })).resolves.toBeDefined()
  })

  it('has a BEEF of everything that is not mined, and of nothing more', async () => {
    const chain = new DevChain()
    const paid = [chain.fund(ANYONE, 1000), chain.fund(ANYONE, 1000)]
    chain.mine()
    const joined = spend(
      [
        [paid[0]!, 0],
        [paid[1]!, 0]
      ],
      2000
    )
    const last = child(child(joined))
    for (const each of [joined, child(joined), last]) await chain.submit(each)
    const beef = Beef.parse(chain.beef(last.txid, { version: 2 }))
    expect(beef.atomic).toBe(true)
    expect(names(beef.transactions.map(({ txid }) => txid))).toStrictEqual(
      names([...paid, joined, child(joined), last].map(({ txid }) => txid))
    )
    expect(beef.bumps).toHaveLength(1)
    const many = sdk(chain, last.txid)
    expect(many.id('hex')).toBe(formatTxid(last.txid))
    expect(await many.verify(chain)).toBe(true)
  })
})

describe('a chain that was kept as JSON', () => {
  it('goes on as if it had never been away', async () => {
    const chain = new DevChain({ seed: 'kept' })
    const paid = chain.fund(ANYONE, 1000)
    chain.mine()
    await chain.reorg(1)
    await chain.submit(child(paid))
    const again = DevChain.from(JSON.parse(JSON.stringify(chain)))
    for (const each of [chain, again]) {
      each.fund(ANYONE, 77)
      each.mine(2)
      await each.reorg(2)
    }
    expect(JSON.stringify(again)).toBe(JSON.stringify(chain))
  })

  it('is refused when something in it was changed', async () => {
    const chain = new DevChain()
    chain.fund(ANYONE, 1000)
    chain.mine(2)
    chain.fund(ANYONE, 1000)
    const json = JSON.parse(JSON.stringify(chain))
    const flip = (hex: string): string => `${hex.slice(0, -1)}${hex.endsWith('0') ? '1' : '0'}`
    const changed = [
      {},
      null,
      { ...json, network: 'main' },
      { ...json, seed: 'another' },
      { ...json, blocks: json.blocks.slice(1) },
      { ...json, blocks: [json.blocks[0], ...json.blocks.slice(2)] },
      {
        ...json,
        blocks: [{ ...json.blocks[0], header: flip(json.blocks[0].header) }, ...json.blocks.slice(1)]
      },
      {
        ...json,
        blocks: json.blocks.map((block: { transactions: string[] }, i: number) =>
          i === 3 ? { ...block, transactions: block.transactions.slice(0, -1) } : block
        )
      },
      { ...json, mempool: [...json.mempool, json.mempool[0].replace(/^01/, '02')] },
      { ...json, mempool: ['00'] },
      {
        ...json,
        blocks: json.blocks.map((block: { header: string }, i: number) =>
          i === 2 ? { ...block, header: flip(block.header) } : block
        )
      }
    ]
    for (const each of changed)
      expect(() => DevChain.from(each)).toThrow(expect.objectContaining({ name: 'QuoinError' }))
  })
})
