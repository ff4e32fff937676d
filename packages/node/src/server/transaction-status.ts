/** The status of a transaction on the network: its proof decides, then its broadcast, then whether it is stored at all. */
import { formatHash } from '@quoin/chain'
import { type BroadcastRecord, broadcasts } from '@quoin/overlay'
import { formatTxid, type Txid, toHex } from '@quoin/primitives'
import { Type } from '@sinclair/typebox'
import type { Context } from './context.ts'

export interface NetworkState {
  readonly record: BroadcastRecord | undefined
  /** Of the stored proof. */
  readonly block:
    | { readonly height: number; readonly hash: string | undefined; readonly merklePath: string }
    | undefined
  readonly isStored: boolean
}

export const networkState = async ({ engine, headers }: Context, txid: Txid): Promise<NetworkState> => {
  const { store, transactions } = engine.outputs
  const [record, bump, transaction] = await Promise.all([
    store.use(broadcasts.collections.record).get(txid),
    transactions.proof(txid),
    transactions.get(txid)
  ])
  const header = bump && (await headers?.header(bump.height))
  return {
    record,
    isStored: transaction !== undefined,
    block: bump && {
      height: bump.height,
      hash: header && formatHash(header.header.hash),
      merklePath: toHex(bump.toBytes())
    }
  }
}

export const TransactionStatus = Type.Object(
  {
    txid: Type.String(),
    txStatus: Type.String({
      description: 'In the words of ARC and Arcade: `SEEN_ON_NETWORK`, `MINED`, `REJECTED`.'
    }),
    timestamp: Type.String(),
    blockHash: Type.Optional(Type.String()),
    blockHeight: Type.Optional(Type.Integer()),
    merklePath: Type.Optional(Type.String({ description: 'A BUMP (BRC-74) in hex.' })),
    extraInfo: Type.Optional(Type.String()),
    competingTxs: Type.Optional(Type.Array(Type.String()))
  },
  { $id: 'TransactionStatus' }
)

/** As Arcade states it; undefined for an unknown transaction. */
export const transactionStatus = (txid: Txid, { record, block, isStored }: NetworkState) => {
  const timestamp = new Date((record?.at ?? Date.now() / 1000) * 1000).toISOString()
  const status = { txid: formatTxid(txid), timestamp }
  if (block) {
    const { height, hash, merklePath } = block
    return { ...status, txStatus: 'MINED', blockHeight: height, ...(hash && { blockHash: hash }), merklePath }
  }
  if (!record) return isStored ? { ...status, txStatus: 'RECEIVED' } : undefined
  return {
    ...status,
    txStatus: record.txStatus,
    ...(record.reason !== undefined && { extraInfo: record.reason }),
    ...(record.competing && { competingTxs: record.competing })
  }
}
