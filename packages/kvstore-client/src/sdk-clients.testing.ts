/** Clients of @bsv/sdk on the URL of a node, where the SDK has no option for it: `networkPreset: 'local'` calls port 8080. */
import {
  type GlobalKVStore,
  HTTPSOverlayBroadcastFacilitator,
  HTTPSOverlayLookupFacilitator,
  LookupResolver,
  OverlayAdminTokenTemplate,
  PrivateKey,
  ProtoWallet,
  TopicBroadcaster,
  Transaction,
  type WalletInterface
} from '@bsv/sdk'

/** Points an unmodified `GlobalKVStore` at a node: its resolver and its broadcaster are replaced by those of the SDK. */
export const sdkClients = (store: GlobalKVStore, url: string): GlobalKVStore => {
  const lookupResolver = new LookupResolver({
    networkPreset: 'local',
    hostOverrides: { ls_kvstore: [url] },
    facilitator: new HTTPSOverlayLookupFacilitator(fetch, true),
    reputationStorage: { get: () => undefined, set: () => undefined }
  })
  const topicBroadcaster = new TopicBroadcaster(['tm_kvstore'], {
    resolver: { query: async () => ({ type: 'output-list', outputs: await advertisement(url) }) } as never,
    facilitator: new HTTPSOverlayBroadcastFacilitator(fetch, true)
  })
  return Object.assign(store, { lookupResolver, topicBroadcaster })
}

const advertisement = async (url: string) => {
  const wallet = new ProtoWallet(new PrivateKey(2)) as unknown as WalletInterface
  const transaction = new Transaction()
  transaction.addOutput({
    satoshis: 1,
    lockingScript: await new OverlayAdminTokenTemplate(wallet).lock('SHIP', url, 'tm_kvstore')
  })
  return [{ beef: transaction.toBEEF(), outputIndex: 0 }]
}
