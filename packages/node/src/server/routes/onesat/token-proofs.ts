/**
 * Token proofs (BRC-176, a draft): outputs with the transactions that make them valid, for wallets that verify with headers
 * alone.
 */
import {
  HOLDER_LOCKS,
  parseTokenId,
  TOKEN_PROOF_TEXT,
  TOKEN_PROOF_VERSION,
  tokenProof,
  tokenProofBeef
} from '@quoin/bsv21'
import { BYTES_TYPE, bytes, Cursor, JSON_TYPE, json, type Route, route } from '@quoin/http'
import { formatOutpoint, parseOutpoint, QuoinError } from '@quoin/primitives'
import type { Bsv21Data } from '@quoin/txo'
import { Type } from '@sinclair/typebox'
import { Address, Amount, Outpoint as OutpointText } from '../../schemas.ts'
import { BASE, knownToken, type TokenContext, TokenIdText } from './bsv21.ts'

/** Outputs of one packet. */
const MAX_SUBJECTS = 100

const Version = Type.Literal(TOKEN_PROOF_VERSION, {
  default: TOKEN_PROOF_VERSION,
  description: `The form of the packet: 1 is ${TOKEN_PROOF_TEXT}, a draft.`
})
const VERSION_HEADER = { 'x-token-proof-version': String(TOKEN_PROOF_VERSION) }

export const tokenProofRoutes = (context: TokenContext): Route[] => [ofOutput(context), ofAddress(context)]

const ofOutput = ({ engine: { outputs } }: TokenContext): Route =>
  route({
    method: 'get',
    path: `${BASE}/:token/proof/:outpoint`,
    name: 'tokenProof',
    summary:
      'A packet that proves a valid output of a token with headers alone (BRC-176), as Outpoint BEEF (BRC-158).',
    tag: '1sat',
    params: { token: TokenIdText, outpoint: OutpointText },
    query: { version: Version },
    responses: {
      200: { description: 'The packet.', content: { [BYTES_TYPE]: undefined } },
      404: { description: 'It is not a valid output of the token.' },
      413: { description: 'The history of the output is too long for a packet.' }
    },
    async handle({ params: { token, outpoint } }) {
      const packet = await tokenProof(outputs, parseTokenId(token), parseOutpoint(outpoint))
      return { ...bytes(packet), headers: VERSION_HEADER }
    }
  })

const ofAddress = (context: TokenContext): Route =>
  route({
    method: 'get',
    path: `${BASE}/:token/:lock/:address/proof`,
    name: 'tokenBalanceProof',
    summary:
      'Unspent outputs of a token that an address has, with a packet that proves them (BRC-176). That they are unspent is not proved.',
    tag: '1sat',
    params: {
      token: TokenIdText,
      lock: Type.Union(HOLDER_LOCKS.map(lock => Type.Literal(lock))),
      address: Address
    },
    query: {
      version: Version,
      limit: Type.Integer({ minimum: 1, maximum: MAX_SUBJECTS, default: MAX_SUBJECTS }),
      cursor: Type.Optional(Type.String())
    },
    responses: {
      200: {
        description: 'A page of outputs and their packet, in the form of BRC-207.',
        content: {
          [JSON_TYPE]: Type.Object({
            version: Type.Integer(),
            assetId: Type.String(),
            subjects: Type.Array(Type.String(), { description: 'The outputs, `txid.vout`.' }),
            amount: Amount,
            beef: Type.String({ description: 'The packet in base64: a BEEF, which proves the subjects.' }),
            cursor: Cursor
          })
        }
      },
      404: { description: 'The token is not known, or the address has none of it.' },
      413: { description: 'The history of the outputs is too long for a packet.' }
    },
    async handle({ params: { token, lock, address }, query: { limit, cursor } }) {
      const { outputs } = context.engine
      const { id } = await knownToken(context, token)
      const page = await outputs.searchOutputs({
        keys: [`${lock}:${address}:${id}`],
        filterSpent: true,
        limit,
        includeTags: ['bsv21'],
        ...(cursor !== undefined && { cursor })
      })
      const subjects = page.rows.map(({ outpoint }) => outpoint)
      if (subjects.length === 0) {
        throw new QuoinError('ERR_NOT_FOUND', `${address} has no unspent output of token ${id} there`)
      }
      const amounts = page.rows.map(({ data }) => BigInt((data!['bsv21'] as Bsv21Data).amt ?? 0))
      const beef = await tokenProofBeef(outputs, id, subjects)
      return json({
        version: TOKEN_PROOF_VERSION,
        assetId: id,
        subjects: subjects.map(outpoint => formatOutpoint(outpoint)),
        amount: amounts.reduce((sum, amount) => sum + amount, 0n).toString(),
        beef: Buffer.from(beef).toString('base64'),
        cursor: page.cursor ?? null
      })
    }
  })
