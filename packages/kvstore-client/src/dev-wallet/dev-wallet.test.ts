/** The development wallet with the stores of ours and of @bsv/sdk, against a node on its development chain. */
import { GlobalKVStore, LocalKVStore, Transaction, Utils, type WalletInterface } from '@bsv/sdk'
import { loadConfig, type Node, startNode } from 'quoin'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GlobalKV } from '../global.ts'
import { LocalKV } from '../local.ts'
import { sdkClients } from '../sdk-clients.testing.ts'
import { type DevWalletStorage, openDevWallet } from './dev-wallet.ts'

let node: Node
let wallet: WalletInterface
beforeAll(async () => {
  const options = { store: 'memory:', chain: 'dev', port: '0', logLevel: 'error', blockTime: '0' }
  node = await startNode(loadConfig({ options }).config)
  wallet = await openDevWallet({ node: node.url })
})
afterAll(() => node.close())

const post = async (path: string): Promise<void> => {
  expect((await fetch(`${node.url}${path}`, { method: 'POST' })).status).toBe(200)
}

/** A place that outlives a wallet. */
const place = (): DevWalletStorage & { text?: string } => ({
  async load() {
    return this.text
  },
  async save(state) {
    this.text = state
  }
})

describe('the stores', () => {
  it('GlobalKV and GlobalKVStore share an entry, mined, not mined, and after a reorg', async () => {
    const ours = new GlobalKV({ wallet, host: node.url })
    const theirs = sdkClients(new GlobalKVStore({ wallet, networkPreset: 'local' }), node.url)
    const controller = await ours.identity()
    const read = () => theirs.get({ key: 'name', controller }, { history: true })
    await ours.set('name', 'one', { tags: ['a'] })
    await post('/dev/mine')
    await theirs.set('name', 'two', { tags: ['b'] })
    await ours.set('name', 'three')
    expect(await read()).toMatchObject({ value: 'three', history: ['one', 'two', 'three'] })
    await post('/dev/mine')
    await post('/dev/reorg?depth=2')
    await theirs.set('name', 'four')
    expect(await read()).toMatchObject({ value: 'four', history: ['one', 'two', 'three', 'four'] })
    await theirs.remove('name')
    expect(await ours.get('name')).toBeUndefined()
  })

  it('LocalKV and LocalKVStore share values', async () => {
    const ours = new LocalKV({ wallet, context: 'dev wallet' })
    const theirs = new LocalKVStore(wallet, 'dev wallet')
    for (const value of ['one', 'two', 'three']) {
      await ours.set('ours', value)
      await post('/dev/mine')
      expect(await theirs.get('ours')).toBe(value)
      await theirs.set('theirs', value)
      expect(await ours.get('theirs')).toBe(value)
    }
    await theirs.remove('ours')
    expect([await ours.get('ours'), await ours.get('theirs')]).toEqual([undefined, 'three'])
  })
})

describe('the wallet', () => {
  it('is there again with its keys and outputs, in the place where it was kept', async () => {
    const storage = place()
    const first = await openDevWallet({ node: node.url, storage })
    await new LocalKV({ wallet: first, context: 'kept here' }).set('k', 'v')
    const second = await openDevWallet({ node: node.url, storage })
    expect(await new LocalKV({ wallet: second, context: 'kept here' }).get('k')).toBe('v')
    expect(await second.getPublicKey({ identityKey: true })).toEqual(
      await first.getPublicKey({ identityKey: true })
    )
  })

  it('forgets outputs of a chain that is gone, and keeps its keys', async () => {
    const options = { store: 'memory:', chain: 'dev', port: '0', logLevel: 'error', blockTime: '0' }
    const storage = place()
    const first = await openDevWallet({ node: node.url, storage })
    await new GlobalKV({ wallet: first, host: node.url }).set('again', 'there')
    // Blocks carry the second in which they were mined.
    await new Promise(resolve => setTimeout(resolve, 1100))
    const next = await startNode(loadConfig({ options }).config)
    try {
      const second = await openDevWallet({ node: next.url, storage })
      const kv = new GlobalKV({ wallet: second, host: next.url })
      expect(await kv.identity()).toBe((await first.getPublicKey({ identityKey: true })).publicKey)
      await kv.set('again', 'here')
      expect((await kv.history('again')).map(({ value }) => value)).toEqual(['here'])
    } finally {
      await next.close()
    }
  })

  it.each([
    ['{', 'not JSON'],
    ['null', 'no key'],
    ['{"key":"ab","outputs":[]}', 'no key'],
    [`{"key":"${'ab'.repeat(32)}"}`, 'no list of outputs']
  ])('refuses the state %s: %s', async (text, reason) => {
    const storage = { load: async () => text, save: async () => {} }
    await expect(openDevWallet({ node: node.url, storage })).rejects.toMatchObject({
      code: 'ERR_KV_WALLET',
      message: expect.stringContaining(reason)
    })
  })

  it('pays each action with a coin of its own, signed, and for a fee', async () => {
    const { tx } = await wallet.createAction({
      description: 'an output of a test',
      outputs: [{ satoshis: 700, lockingScript: '51', outputDescription: 'an output of a test' }]
    })
    const transaction = Transaction.fromAtomicBEEF(tx!)
    expect(transaction.inputs).toHaveLength(1)
    expect(transaction.outputs.map(({ satoshis }) => satoshis)).toEqual([700])
    expect(transaction.getFee()).toBeGreaterThanOrEqual(Math.ceil(transaction.toBinary().length / 10))
    expect(await transaction.verify('scripts only')).toBe(true)
  })

  it('says which transaction was first when an output is spent twice', async () => {
    const output = { satoshis: 9, lockingScript: '51', outputDescription: 'an output of a test' }
    const { txid } = await wallet.createAction({ description: 'an output of a test', outputs: [output] })
    const spend = () =>
      wallet.createAction({
        description: 'a spend of a test',
        inputs: [{ outpoint: `${txid}.0`, unlockingScript: '', inputDescription: 'input of a test' }],
        outputs: [output]
      })
    const first = await spend()
    await expect(spend()).rejects.toMatchObject({
      reviewActionResults: [{ status: 'doubleSpend', competingTxs: [first.txid] }]
    })
  })

  it('keeps an action back with noSend, and sends it with another', async () => {
    const make = (options: object) =>
      wallet.createAction({
        description: 'an output of a test',
        outputs: [
          { satoshis: 5, lockingScript: '51', basket: 'kept back', outputDescription: 'an output of a test' }
        ],
        options
      })
    const { txid } = await make({ noSend: true })
    const known = async () => (await fetch(`${node.url}/dev/beef/${txid}`)).status
    expect(await known()).toBe(404)
    const listed = await wallet.listOutputs({ basket: 'Kept back ', include: 'entire transactions' })
    expect(listed).toMatchObject({ totalOutputs: 1, outputs: [{ outpoint: `${txid}.0`, spendable: true }] })
    await make({ sendWith: [txid] })
    expect(await known()).toBe(200)
    await expect(make({ sendWith: [txid] })).rejects.toMatchObject({ code: 'ERR_KV_WALLET' })
  })

  it('refuses what it has not: unknown references, missing signatures, payments, certificates', async () => {
    const refused = { code: 'ERR_KV_WALLET' }
    await expect(wallet.signAction({ reference: 'none', spends: {} })).rejects.toMatchObject(refused)
    await expect(wallet.abortAction({ reference: 'none' })).rejects.toMatchObject(refused)
    await expect(wallet.listActions({ labels: [] })).rejects.toMatchObject(refused)
    await expect(
      wallet.internalizeAction({ tx: [], outputs: [], description: 'a payment' })
    ).rejects.toMatchObject(refused)
    await expect(wallet.discoverByIdentityKey({ identityKey: '02' })).rejects.toMatchObject(refused)
    const { txid } = await wallet.createAction({
      description: 'an output of a test',
      outputs: [{ satoshis: 5, lockingScript: '51', outputDescription: 'an output of a test' }]
    })
    const { signableTransaction } = await wallet.createAction({
      description: 'a spend of a test',
      inputs: [{ outpoint: `${txid}.0`, unlockingScriptLength: 1, inputDescription: 'input of a test' }]
    })
    const { reference } = signableTransaction!
    await expect(wallet.signAction({ reference, spends: {} })).rejects.toThrow('for input 0')
  })

  it('knows the height and the headers of its chain', async () => {
    const { height } = await wallet.getHeight({})
    const { header } = await wallet.getHeaderForHeight({ height })
    expect(Utils.toArray(header, 'hex')).toHaveLength(80)
    await expect(wallet.getHeaderForHeight({ height: height + 1 })).rejects.toMatchObject({
      code: 'ERR_KV_WALLET'
    })
    expect(await wallet.isAuthenticated({})).toEqual({ authenticated: true })
  })

  it('says which node it cannot reach', async () => {
    const lost = await openDevWallet({ node: 'http://127.0.0.1:1' })
    await expect(lost.getHeight({})).rejects.toThrow('http://127.0.0.1:1 cannot be reached')
  })
})
