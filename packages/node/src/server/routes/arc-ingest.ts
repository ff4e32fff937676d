/** Reports of transaction processors: proofs, and statuses of transactions. Only with a token, which they show. */
import { Bump } from '@quoin/chain'
import { JSON_TYPE, json, type Route, route } from '@quoin/http'
import { verdictOfStatus } from '@quoin/overlay'
import { fromHex, parseTxid } from '@quoin/primitives'
import { Type } from '@sinclair/typebox'
import { bearer } from '../bearer-auth.ts'
import type { Context } from '../context.ts'
import { Hex, Txid } from '../schemas.ts'

const MAX_COMPETING = 20
/** Processors write `null` for a field that they do not have. */
const optional = <T extends Parameters<typeof Type.Optional>[0]>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]))

export const arcIngestRoutes = ({ engine, options: { arcToken, broadcaster } }: Context): Route[] => {
  if (arcToken === undefined) return []
  return [
    route({
      method: 'post',
      path: '/arc-ingest',
      name: 'arcIngest',
      summary:
        'Takes the proof of a transaction, checked against the headers, or its status. What the network refuses for good is rolled back.',
      tag: 'overlay',
      auth: bearer(arcToken),
      body: Type.Object({
        txid: Txid,
        merklePath: Type.Optional(Type.Union([Hex, Type.Null()], { description: 'A BUMP (BRC-74).' })),
        blockHeight: optional(Type.Integer()),
        txStatus: optional(Type.String({ pattern: '^[A-Z_]{1,40}$' })),
        extraInfo: optional(Type.String({ maxLength: 10_000 })),
        competingTxs: optional(Type.Array(Txid, { maxItems: 10_000 }))
      }),
      responses: {
        200: {
          description: 'The report was taken; or it says nothing about a transaction of this node.',
          content: { [JSON_TYPE]: Type.Object({ status: Type.Literal('success'), message: Type.String() }) }
        }
      },
      async handle({ body: { txid, merklePath, txStatus, extraInfo, competingTxs } }) {
        const id = parseTxid(txid)
        const success = (message: string) => json({ status: 'success', message })
        if (merklePath) {
          await engine.handleNewMerkleProof(id, Bump.parse(fromHex(merklePath)))
          return success('the proof was taken')
        }
        if (!txStatus || !broadcaster) return success('the request has no proof')
        const reason = extraInfo?.slice(0, 500) || undefined
        const verdict = verdictOfStatus(txStatus, reason)
        const competing = competingTxs?.slice(0, MAX_COMPETING)
        const isKnown = await broadcaster.report(id, {
          verdict,
          txStatus,
          reason,
          competing,
          processor: undefined
        })
        return success(isKnown ? 'the status was taken' : 'the transaction is not known here')
      }
    })
  ]
}
