/** The development chain of a node: it pays, mines and reorganises on request. Only with the chain `dev`. */

import { Beef, formatHash } from '@quoin/chain'
import { JSON_TYPE, json, type Route, route } from '@quoin/http'
import { formatTxid, fromHex, parseTxid, QuoinError, toHex } from '@quoin/primitives'
import { Type } from '@sinclair/typebox'
import type { Context } from '../context.ts'
import type { DevNetwork } from '../dev-network.ts'
import { Txid } from '../schemas.ts'

/** Blocks that one request mines at most. */
const MAX_BLOCKS = 100

export const devRoutes = ({ options: { dev } }: Context): Route[] =>
  dev ? [fund(dev), submit(dev), beef(dev), mine(dev), reorg(dev)] : []

const Block = Type.Object({ height: Type.Integer(), hash: Type.String() })

const fund = (dev: DevNetwork): Route =>
  route({
    method: 'post',
    path: '/dev/fund',
    name: 'devFund',
    summary:
      'Pays satoshis of the development chain to an address or a script. They wait for the next block.',
    tag: 'dev',
    body: Type.Object({
      address: Type.Optional(Type.String({ maxLength: 64 })),
      script: Type.Optional(Type.String({ pattern: '^([0-9a-fA-F]{2})*$', maxLength: 20_000 })),
      satoshis: Type.Integer({ minimum: 1, maximum: 1e10 })
    }),
    responses: {
      200: {
        description: 'The payment is the first output; the BEEF is atomic, in hex.',
        content: {
          [JSON_TYPE]: Type.Object({ txid: Type.String(), vout: Type.Integer(), beef: Type.String() })
        }
      }
    },
    async handle({ body: { address, script, satoshis } }) {
      const { txid } = await dev.fund(script === undefined ? (address ?? '') : fromHex(script), satoshis)
      return json({ txid: formatTxid(txid), vout: 0, beef: toHex(dev.chain.beef(txid)) })
    }
  })

const submit = (dev: DevNetwork): Route =>
  route({
    method: 'post',
    path: '/dev/submit',
    name: 'devSubmit',
    summary: 'Gives the development chain a transaction with its unmined ancestors. No topic sees it.',
    tag: 'dev',
    body: Type.Object({
      beef: Type.String({ pattern: '^([0-9a-fA-F]{2})+$', description: 'A BEEF in hex.' })
    }),
    responses: {
      200: {
        description: 'It waits for the next block.',
        content: { [JSON_TYPE]: Type.Object({ txid: Type.String() }) }
      },
      409: { description: 'Another transaction spends what it does; `details.spender` names it.' }
    },
    async handle({ body }) {
      const parsed = Beef.parse(fromHex(body.beef))
      const transaction = parsed.find(parsed.subject)?.transaction
      if (!transaction) throw new QuoinError('ERR_BEEF_FORMAT', 'the BEEF lacks its subject transaction')
      await dev.broadcast(transaction, parsed)
      return json({ txid: formatTxid(transaction.txid) })
    }
  })

const beef = (dev: DevNetwork): Route =>
  route({
    method: 'get',
    path: '/dev/beef/:txid',
    name: 'devBeef',
    summary: 'A transaction of the development chain with its ancestry to proofs.',
    tag: 'dev',
    params: { txid: Txid },
    responses: {
      200: {
        description: 'The BEEF is atomic, in hex.',
        content: { [JSON_TYPE]: Type.Object({ beef: Type.String() }) }
      },
      404: { description: 'The chain does not have it.' }
    },
    handle({ params }) {
      const txid = parseTxid(params.txid)
      if (dev.chain.transaction(txid)) return json({ beef: toHex(dev.chain.beef(txid)) })
      throw new QuoinError('ERR_NOT_FOUND', `the development chain has no transaction ${params.txid}`)
    }
  })

const mine = (dev: DevNetwork): Route =>
  route({
    method: 'post',
    path: '/dev/mine',
    name: 'devMine',
    summary: 'Mines blocks, the first of them with all that waits.',
    tag: 'dev',
    query: { count: Type.Integer({ minimum: 1, maximum: MAX_BLOCKS, default: 1 }) },
    responses: {
      200: {
        description: 'The blocks.',
        content: { [JSON_TYPE]: Type.Object({ blocks: Type.Array(Block) }) }
      }
    },
    async handle({ query: { count } }) {
      const blocks = await dev.mine(count)
      return json({
        blocks: blocks.map(({ height, header }) => ({ height, hash: formatHash(header.hash) }))
      })
    }
  })

const reorg = (dev: DevNetwork): Route =>
  route({
    method: 'post',
    path: '/dev/reorg',
    name: 'devReorg',
    summary: 'Replaces the last blocks by one block more, with their transactions.',
    tag: 'dev',
    query: { depth: Type.Integer({ minimum: 1, maximum: 100, default: 1 }) },
    responses: {
      200: {
        description: 'The last block that stayed, and the new ones.',
        content: { [JSON_TYPE]: Type.Object({ fork: Type.Integer(), blocks: Type.Array(Block) }) }
      }
    },
    async handle({ query: { depth } }) {
      const { fork, added } = await dev.reorg(depth)
      return json({
        fork,
        blocks: added.map(({ height, header }) => ({ height, hash: formatHash(header.hash) }))
      })
    }
  })
