/** Transactions as they are stored: with their ancestry, alone, or their proofs. */

import { BYTES_TYPE, bytes, type Route, type RouteResponse, route } from '@quoin/http'
import { hasCode, parseTxid, QuoinError } from '@quoin/primitives'
import type { Context } from '../context.ts'
import { Txid } from '../schemas.ts'

/** A transaction never changes; its proof may, with the chain. */
const FOR_EVER = { 'cache-control': 'public, max-age=31536000, immutable' }

export const beefRoutes = ({ engine }: Context): Route[] => {
  const { transactions } = engine.outputs
  const served = (
    path: string,
    name: string,
    summary: string,
    handle: (txid: ReturnType<typeof parseTxid>) => Promise<RouteResponse | undefined>
  ): Route =>
    route({
      method: 'get',
      path,
      name,
      summary,
      tag: 'beef',
      params: { txid: Txid },
      responses: {
        200: { description: 'Bytes.', content: { [BYTES_TYPE]: undefined } },
        404: { description: 'It is not stored.' }
      },
      async handle({ params: { txid } }) {
        const answer = await handle(parseTxid(txid)).catch(missing)
        if (!answer) throw new QuoinError('ERR_NOT_FOUND', `not stored for transaction ${txid}`)
        return answer
      }
    })
  return [
    served(
      '/beef/:txid',
      'beef',
      'A transaction with its ancestry and merkle paths, as Atomic BEEF (BRC-95).',
      async txid => bytes(await transactions.beef(txid, { atomic: true }))
    ),
    served('/beef/:txid/tx', 'rawTransaction', 'A transaction alone.', async txid => {
      const found = await transactions.get(txid)
      return found && { ...bytes(found.raw), headers: FOR_EVER }
    }),
    served(
      '/beef/:txid/proof',
      'proof',
      'The proof of a transaction that is mined, as a BUMP (BRC-74).',
      async txid => {
        const found = await transactions.proof(txid)
        return found && bytes(found.toBytes())
      }
    )
  ]
}

/** Something on the way to the proofs is not stored: then there is no BEEF. */
const missing = (error: unknown): undefined => {
  if (hasCode(error, 'ERR_TX_UNKNOWN')) return undefined
  throw error
}
