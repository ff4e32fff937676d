/** Two owners of wallets and a node, on one chain, with what tests of the global store do. */
import { PushDrop, Utils, type WalletInterface, type WalletProtocol } from '@bsv/sdk'
import { subjectOf } from './action.ts'
import { GlobalKV, type GlobalKVOptions } from './global.ts'
import { type KvNode, startKvNode } from './node.testing.ts'
import { startChain, type TestChain } from './wallet.testing.ts'

export interface World {
  readonly chain: TestChain
  readonly node: KvNode
  readonly alice: WalletInterface
  readonly bob: WalletInterface
  /** Of alice, on the node, unless told otherwise. */
  store(options?: GlobalKVOptions): GlobalKV
  close(): Promise<void>
}

export const startWorld = async (): Promise<World> => {
  const chain = await startChain()
  const [alice, bob] = [await chain.wallet(), await chain.wallet()]
  const node = await startKvNode(chain)
  return {
    chain,
    node,
    alice,
    bob,
    store: options => new GlobalKV({ wallet: alice, host: node.url, ...options }),
    close: async () => {
      await node.close()
      await chain.close()
    }
  }
}

let keys = 0
/** A key that no other test of the file uses. */
export const newKey = (): string => `key.${++keys}`

export const valuesOf = (entries: readonly { value: string }[]): string[] => entries.map(({ value }) => value)

/** A token as `GlobalKVStore` of @bsv/sdk makes one; of another controller than it is signed by, a forgery. */
export const tokenOf = async (wallet: WalletInterface, key: string, value: string, controller?: string) => {
  const protocolID: WalletProtocol = [1, 'kvstore']
  const { publicKey } = await wallet.getPublicKey({ identityKey: true })
  return new PushDrop(wallet).lock(
    [
      Utils.toArray(JSON.stringify(protocolID), 'utf8'),
      Utils.toArray(key, 'utf8'),
      Utils.toArray(value, 'utf8'),
      Utils.toArray(controller ?? publicKey, 'hex')
    ],
    protocolID,
    key,
    'anyone',
    true
  )
}

/** Makes a token without looking what is live, and submits it to nobody. */
export const mint = async (wallet: WalletInterface, key: string, value: string, controller?: string) => {
  const { tx } = await wallet.createAction({
    description: 'a token of a test',
    outputs: [
      {
        lockingScript: (await tokenOf(wallet, key, value, controller)).toHex(),
        satoshis: 1,
        outputDescription: 'a token of a test'
      }
    ],
    options: { acceptDelayedBroadcast: false, randomizeOutputs: false }
  })
  return { beef: [...tx!], outpoint: `${subjectOf(tx!).id('hex')}.0` }
}

export const submitTo = ({ url }: KvNode, beef: readonly number[]): Promise<Response> =>
  fetch(`${url}/submit`, {
    method: 'POST',
    headers: { 'x-topics': '["tm_kvstore"]' },
    body: Uint8Array.from(beef)
  })
