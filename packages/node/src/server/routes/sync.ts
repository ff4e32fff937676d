/** The side of sync between nodes that answers (GASP), as overlay-express has it. */

import { BYTES_TYPE, bytes, JSON_TYPE, json, type Route, route } from '@quoin/http'
import { foreignNode, MAX_BATCH, syncResponse, transactionBatch } from '@quoin/overlay'
import { Type } from '@sinclair/typebox'
import type { Context } from '../context.ts'
import { Hex, Outpoint, TopicName, Txid } from '../schemas.ts'

const Count = Type.Integer({ minimum: 0 })
/** A batch reads as many transactions as so many requests of another route. */
const BATCH_COST = 10
const Listed = Type.Object({ txid: Txid, outputIndex: Count, score: Type.Number() })

export const syncRoutes = ({ engine }: Context): Route[] => [
  route({
    method: 'post',
    path: '/requestSyncResponse',
    name: 'requestSyncResponse',
    summary: 'The live outputs of a topic, in the order in which they came into it, from a score on.',
    tag: 'overlay',
    headers: { 'x-bsv-topic': TopicName },
    body: Type.Object({
      version: Type.Number({ description: 'Of GASP: 1.' }),
      since: Type.Number({ minimum: 0, description: 'The last score that was seen, 0 before the first.' }),
      limit: Type.Optional(Type.Union([Count, Type.Null()])),
      applied: Type.Optional(
        Type.Integer({ minimum: 0, description: 'An extension: transactions from this position on instead.' })
      ),
      anchored: Type.Optional(
        Type.Object(
          { from: Count, to: Count },
          {
            description:
              'An extension: heights whose anchors are equal; transactions of these blocks are left out.'
          }
        )
      )
    }),
    responses: {
      200: {
        description: 'A page.',
        content: {
          [JSON_TYPE]: Type.Object({
            UTXOList: Type.Array(Listed),
            since: Type.Number(),
            applied: Type.Optional(
              Type.Object({
                transactions: Type.Array(Type.Object({ txid: Txid, score: Type.Number() })),
                last: Count
              })
            )
          })
        }
      }
    },
    handle: async ({ headers, body }) => json(await syncResponse(engine, headers['x-bsv-topic'], body))
  }),
  route({
    method: 'post',
    path: '/requestTransactions',
    name: 'requestTransactions',
    summary:
      'Transactions of a topic in one BEEF, each with the unproved ancestors that the topic does not list. An extension of GASP for `quoin bootstrap` and the sync between Quoin nodes.',
    tag: 'overlay',
    headers: { 'x-bsv-topic': TopicName },
    body: Type.Object({
      version: Type.Number({ description: 'Of GASP: 1.' }),
      txids: Type.Optional(Type.Array(Txid, { minItems: 1, maxItems: MAX_BATCH })),
      block: Type.Optional(
        Type.Object(
          {
            height: Count,
            hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
            positions: Type.Array(Count, { minItems: 1, maxItems: MAX_BATCH })
          },
          { description: 'In place of txids: positions in the admitted list of a block.' }
        )
      )
    }),
    responses: {
      200: {
        description:
          'A BEEF with the requested transactions in their order, up to 8 MiB; empty if the first is not served. Transactions that are not stored, or whose ancestry is beyond the limits, are left out.',
        content: { [BYTES_TYPE]: undefined }
      }
    },
    cost: BATCH_COST,
    handle: async ({ headers, body }) => bytes(await transactionBatch(engine, headers['x-bsv-topic'], body))
  }),
  route({
    method: 'post',
    path: '/requestForeignGASPNode',
    name: 'requestForeignGASPNode',
    summary: 'A transaction of the ancestry of an output, with its proof if it has one.',
    tag: 'overlay',
    body: Type.Object({
      graphID: Outpoint,
      txid: Txid,
      outputIndex: Type.Integer({ minimum: 0, maximum: 0xffffffff }),
      metadata: Type.Optional(Type.Unknown())
    }),
    responses: {
      200: {
        description: 'The transaction.',
        content: {
          [JSON_TYPE]: Type.Object({
            graphID: Type.String(),
            rawTx: Hex,
            outputIndex: Count,
            proof: Type.Optional(Hex)
          })
        }
      }
    },
    handle: async ({ body }) => json(await foreignNode(engine, body))
  })
]
