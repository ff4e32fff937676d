/**
 * `@1sat/client` 0.0.9 as it is. Its types name one another without extensions, so that TypeScript does not find them;
 * here is what the tests use of them.
 */
import {
  BeefClient,
  ChaintracksClient,
  OneSatServices,
  OverlayClient,
  OwnerClient,
  TxoClient
} from '@1sat/client'

interface FoundTxo {
  readonly outpoint: string
  readonly score: number
  readonly satoshis?: number
  readonly blockHeight?: number
  readonly blockIdx?: number
  readonly spend?: string
  readonly events?: readonly string[]
  readonly data?: Readonly<Record<string, unknown>>
}
interface SyncedOutput {
  readonly outpoint: string
  readonly score: number
  readonly spendTxid?: string
}
interface OwnerEvent {
  readonly type: 'sync' | 'txo' | 'done' | 'error'
  readonly data?: FoundTxo
}
interface FoundHeader {
  readonly height: number
  readonly hash: string
  readonly prevHash: string
  readonly merkleRoot: string
}
type Options = Readonly<Record<string, boolean | number | readonly string[]>>

export interface Clients {
  readonly txo: {
    get(outpoint: string, options?: Options): Promise<FoundTxo>
    getBatch(outpoints: readonly string[], options?: Options): Promise<(FoundTxo | null)[]>
    getSpend(outpoint: string): Promise<string | null>
    getSpends(outpoints: readonly string[]): Promise<(string | null)[]>
    getByTxid(txid: string, options?: Options): Promise<FoundTxo[]>
    search(keys: string | readonly string[], options?: Options): Promise<FoundTxo[]>
  }
  readonly owner: {
    getTxos(owner: string, options?: Options): AsyncIterable<OwnerEvent>
    getBalance(owner: string): Promise<unknown>
    sync(
      owners: readonly string[],
      from?: number,
      onProgress?: (progress: unknown) => void
    ): AsyncIterable<SyncedOutput>
  }
  readonly beef: Record<'getBeef' | 'getRawTx' | 'getProof', (txid: string) => Promise<Uint8Array>>
  readonly overlay: {
    listTopicManagers(): Promise<unknown>
    listLookupServiceProviders(): Promise<unknown>
    submit(beef: Uint8Array, topics: readonly string[]): Promise<unknown>
  }
  readonly chaintracks: {
    findChainTipHeader(): Promise<FoundHeader>
    findHeaderForHeight(height: number): Promise<FoundHeader | undefined>
    findHeaderForBlockHash(hash: string): Promise<FoundHeader | undefined>
    currentHeight(): Promise<number>
    isValidRootForHeight(root: string, height: number): Promise<boolean>
    getChain(): Promise<string>
    getHeaders(height: number, count: number): Promise<string>
    getHeaderBytes(height: number): Promise<number[]>
  }
  readonly services: {
    getCapabilities(): Promise<string[]>
    getUtxoStatus(script: string, format: undefined, outpoint: string): Promise<unknown>
    close(): void
  }
}

/** New ones each time: some of them remember. */
export const clientsOf = (url: string): Clients => ({
  txo: new TxoClient(url),
  owner: new OwnerClient(url),
  beef: new BeefClient(url),
  overlay: new OverlayClient(url),
  chaintracks: new ChaintracksClient(url),
  services: new OneSatServices('main', url)
})

/** Everything that comes. */
export const all = async <T>(events: AsyncIterable<T>): Promise<T[]> => {
  const list: T[] = []
  for await (const event of events) list.push(event)
  return list
}
