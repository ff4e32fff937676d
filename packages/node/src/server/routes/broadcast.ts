/** What became of a transaction on the network. */
import { JSON_TYPE, json, type Route, route } from '@quoin/http'
import { BROADCAST_STATUSES, type BroadcastRecord } from '@quoin/overlay'
import { formatTxid, parseTxid, QuoinError } from '@quoin/primitives'
import { Type } from '@sinclair/typebox'
import type { Context } from '../context.ts'
import { Txid } from '../schemas.ts'
import { networkState } from '../transaction-status.ts'

const Time = Type.Optional(Type.Number({ description: 'Unix seconds.' }))

export const broadcastRoutes = (context: Context): Route[] => [
  route({
    method: 'get',
    path: '/tx/:txid/status',
    name: 'transactionStatus',
    summary: 'What became of a transaction on the network.',
    tag: 'overlay',
    params: { txid: Txid },
    responses: {
      200: {
        description: '`unknown` where the node has the transaction and did not broadcast it.',
        content: {
          [JSON_TYPE]: Type.Object({
            txid: Type.String(),
            status: Type.Union([...BROADCAST_STATUSES, 'unknown'].map(status => Type.Literal(status))),
            txStatus: Type.Optional(Type.String({ description: 'In the words of the processor.' })),
            processor: Type.Optional(Type.String()),
            reason: Type.Optional(Type.String()),
            competing: Type.Optional(Type.Array(Type.String())),
            since: Time,
            at: Time,
            submissions: Type.Optional(
              Type.Integer({ description: 'Submissions that a processor accepted.' })
            ),
            height: Type.Optional(Type.Integer()),
            blockHash: Type.Optional(Type.String())
          })
        }
      },
      404: { description: 'The transaction is unknown.' }
    },
    async handle({ params }) {
      const txid = parseTxid(params.txid)
      const { record, block, isStored } = await networkState(context, txid)
      if (!record && !isStored) throw new QuoinError('ERR_NOT_FOUND', `unknown transaction ${params.txid}`)
      const { status = 'unknown', ...known } = shown(record)
      return json({
        txid: formatTxid(txid),
        status,
        ...known,
        ...(block && { status: 'mined', height: block.height, ...(block.hash && { blockHash: block.hash }) })
      })
    }
  })
]

/** Without the fields that are of the node alone. */
const shown = (record: BroadcastRecord | undefined): Partial<BroadcastRecord> => {
  if (!record) return {}
  const { tokens: _, checks: __, sentAt: ___, kept: ____, ...known } = record
  return known
}
