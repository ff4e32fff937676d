/** A node with the key-value store on a real socket, which believes the blocks of a chain for tests. */
import { Bump, type RootTracker } from '@quoin/chain'
import { kvstore } from '@quoin/kvstore'
import { Engine, installPlugins } from '@quoin/overlay'
import { fromHex, parseTxid } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { OutputStore } from '@quoin/txo'
import { createServer } from 'quoin'
import type { TestChain } from './wallet.testing.ts'

export interface KvNode {
  readonly url: string
  readonly engine: Engine
  /** Tells the node the proof of a transaction. */
  prove(txid: string): Promise<void>
  close(): Promise<void>
}

export const startKvNode = async ({ services }: TestChain, port = 0): Promise<KvNode> => {
  const outputs = new OutputStore(await openStore('memory:'))
  const tracker: RootTracker = services.tracker
  const engine = new Engine({ outputs, tracker, ...(await installPlugins([kvstore], { outputs })) })
  const server = createServer({ engine })
  const { url } = await server.listen({ port })
  return {
    url,
    engine,
    prove: async txid => {
      const { merklePath } = await services.getMerklePath(txid)
      if (!merklePath) throw new Error(`${txid} is not mined`)
      await engine.handleNewMerkleProof(parseTxid(txid), Bump.parse(fromHex(merklePath.toHex())))
    },
    close: async () => {
      await server.close()
      await engine.close()
      await outputs.store.close()
    }
  }
}
