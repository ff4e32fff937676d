/**
 * Broadcasts in the form of the 1Sat API: `/1sat/tx`, and Arcade under `/1sat/arcade`. A transaction is verified, indexed and
 * given to the network; no topic sees it. Only there when the node has a network.
 */
import { createHash } from 'node:crypto'
import { BYTES, JSON_TYPE, json, type Route, type RouteResponse, route } from '@quoin/http'
import { formatTxid, hasCode, parseTxid, QuoinError } from '@quoin/primitives'
import { Type } from '@sinclair/typebox'
import type { Context } from '../../context.ts'
import { Txid as TxidSchema } from '../../schemas.ts'
import { networkState, TransactionStatus, transactionStatus } from '../../transaction-status.ts'
import { statusStream } from './status-stream.ts'
import { beefOfBody } from './transaction-body.ts'

/** Transactions of one request. */
const MAX_TRANSACTIONS = 100
/** Requests that a request of several transactions counts as, under the limit of an address. */
const MANY_COST = 10
const Token = Type.String({ minLength: 1, maxLength: 512 })

/** Whether submissions reach a network: through processors, or as a development chain. */
export const canBroadcast = ({ options: { broadcaster, dev } }: Context): boolean =>
  dev !== undefined || (broadcaster?.canSend ?? false)

export const arcadeRoutes = (context: Context): Route[] => {
  const { broadcaster } = context.options
  if (!broadcaster || !canBroadcast(context)) return []
  return [
    submitOne(context, '/1sat/tx', 'oneSatSubmitTransaction', 400),
    submitOne(context, '/1sat/arcade/tx', 'arcadeSubmit', 200),
    submitMany(context),
    statusOf(context, '/1sat/tx/:txid', 'oneSatTransactionStatus'),
    statusOf(context, '/1sat/arcade/tx/:txid', 'arcadeStatus'),
    policy(context),
    events(context)
  ]
}

const StatusResponse = (description: string) => ({ description, content: { [JSON_TYPE]: TransactionStatus } })
const submitHeaders = {
  'content-type': Type.Optional(Type.String()),
  'x-callbacktoken': Type.Optional(
    Type.String({ maxLength: 512, description: 'Events of the transaction are asked for by this token.' })
  )
}

/** The client of `/1sat/arcade` reads the verdict of a success alone, that of `/1sat/tx` also of a 400. */
const submitOne = (context: Context, path: string, name: string, refusedStatus: number): Route =>
  route({
    method: 'post',
    path,
    name,
    summary:
      'Gives a transaction to the network: BEEF, Extended Format or raw, in bytes, in hex, or as `{rawTx}`.',
    tag: '1sat',
    headers: submitHeaders,
    body: BYTES,
    responses: {
      200: StatusResponse('The network has it, or refuses it.'),
      202: StatusResponse('It is durable and waits to be sent.'),
      400: StatusResponse('The transaction is invalid, or the network refuses it.')
    },
    async handle({ headers, body, client }) {
      const status = await relay(context, body, headers['x-callbacktoken'], client)
      return json(status, statusCode(status.txStatus, refusedStatus))
    }
  })

const statusCode = (txStatus: string, refusedStatus: number): number => {
  if (txStatus === 'REJECTED' || txStatus === 'DOUBLE_SPEND_ATTEMPTED') return refusedStatus
  return txStatus === 'RECEIVED' ? 202 : 200
}

const submitMany = (context: Context): Route =>
  route({
    method: 'post',
    path: '/1sat/arcade/txs',
    name: 'arcadeSubmitMany',
    summary: 'Gives transactions to the network, in order.',
    tag: '1sat',
    headers: submitHeaders,
    cost: MANY_COST,
    body: Type.Array(Type.Object({ rawTx: Type.String({ pattern: '^([0-9a-fA-F]{2})+$' }) }), {
      minItems: 1,
      maxItems: MAX_TRANSACTIONS
    }),
    responses: {
      200: {
        description: 'Their statuses, in order.',
        content: { [JSON_TYPE]: Type.Array(TransactionStatus) }
      }
    },
    async handle({ headers, body, client }) {
      const statuses: unknown[] = []
      for (const { rawTx } of body) {
        statuses.push(await relay(context, Buffer.from(rawTx, 'hex'), headers['x-callbacktoken'], client))
      }
      return json(statuses)
    }
  })

/** The status after the network has answered, or as it is when the time is over. A refusal is a status too. */
const relay = async (
  context: Context,
  body: Uint8Array,
  token: string | undefined,
  client: string | undefined
) => {
  const { engine, options } = context
  const broadcaster = options.broadcaster!
  const beef = beefOfBody(body)
  const txid = beef.subject
  try {
    await engine.relay({ beef, client, token: token ? digestOf(token) : undefined })
  } catch (error) {
    return { txid: formatTxid(txid), timestamp: new Date().toISOString(), ...refusalOf(error) }
  }
  await broadcaster.settled(txid, broadcaster.timeout)
  return transactionStatus(txid, await networkState(context, txid))!
}

/** The status of a transaction that is invalid, or that the network or the index refuses; other errors are thrown. */
const refusalOf = (error: unknown) => {
  if (hasCode(error, 'ERR_TX_INVALID')) return { txStatus: 'REJECTED', extraInfo: error.message }
  if (hasCode(error, 'ERR_TXO_CONFLICT')) {
    const competingTxs = [String(error.details['spender'])]
    return { txStatus: 'DOUBLE_SPEND_ATTEMPTED', extraInfo: error.message, competingTxs }
  }
  if (!hasCode(error, 'ERR_BROADCAST')) throw error
  const { txStatus, competingTxs } = error.details as {
    txStatus: string
    competingTxs?: readonly string[]
  }
  return { txStatus, extraInfo: error.message, ...(competingTxs && { competingTxs }) }
}

const statusOf = (context: Context, path: string, name: string): Route =>
  route({
    method: 'get',
    path,
    name,
    summary: 'The status of a transaction on the network.',
    tag: '1sat',
    params: { txid: TxidSchema },
    responses: { 200: StatusResponse('Its status.'), 404: { description: 'The transaction is unknown.' } },
    async handle({ params }) {
      const txid = parseTxid(params.txid)
      const status = transactionStatus(txid, await networkState(context, txid))
      if (status) return json(status)
      throw new QuoinError('ERR_NOT_FOUND', `unknown transaction ${params.txid}`)
    }
  })

const Policy = Type.Object({
  policy: Type.Record(Type.String(), Type.Unknown()),
  timestamp: Type.String()
})

/** A development chain takes transactions of any fee, as large as the SDK makes them. */
const DEVELOPMENT_POLICY = {
  miningFee: { satoshis: 0, bytes: 1000 },
  maxscriptsizepolicy: 4_294_967_295,
  maxtxsigopscountspolicy: 4_294_967_295,
  maxtxsizepolicy: 4_294_967_295
}

const policy = ({ options }: Context): Route =>
  route({
    method: 'get',
    path: '/1sat/arcade/policy',
    name: 'arcadePolicy',
    summary:
      'The mining policy, as the first processor that answers states it; its fields beside `policy` too.',
    tag: '1sat',
    responses: { 200: { description: 'The policy.', content: { [JSON_TYPE]: Policy } } },
    async handle(): Promise<RouteResponse> {
      const { network, timeout, canSend } = options.broadcaster!
      const timestamp = new Date().toISOString()
      const stated = canSend
        ? ((await network.policy(AbortSignal.timeout(timeout))) as { readonly policy?: object })
        : { policy: DEVELOPMENT_POLICY }
      // Arcade wraps the policy, and the client reads it bare.
      return json({ ...stated.policy, timestamp, ...stated })
    }
  })

const EventPosition = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

const events = (context: Context): Route =>
  route({
    method: 'get',
    path: '/1sat/arcade/events',
    name: 'arcadeEvents',
    summary:
      'Changes of statuses as they happen: of submissions with a token, or of all. They continue after `Last-Event-ID`; an event `gap` says that some are lost.',
    tag: '1sat',
    query: {
      token: Type.Optional(Token),
      callbackToken: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 512,
          description: 'The same, and events are named `status`, as Arcade names them.'
        })
      )
    },
    headers: { 'last-event-id': Type.Optional(EventPosition) },
    responses: {
      200: { description: 'A stream of events.', content: { 'text/event-stream': Type.String() } }
    },
    handle({ query: { token, callbackToken }, headers }) {
      const given = token ?? callbackToken
      return statusStream(context, {
        after: headers['last-event-id'],
        token: given === undefined ? undefined : digestOf(given),
        event: callbackToken === undefined ? undefined : 'status'
      })
    }
  })

const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex')
