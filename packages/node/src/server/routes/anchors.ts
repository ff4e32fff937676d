/** The anchors of topics (BRC-136): five questions that other nodes ask before they fetch transactions. */
import { JSON_TYPE, json, type Route, route } from '@quoin/http'
import { ANCHOR_ROUTES, type AnchorQuestion, answerAnchors, MAX_RANGE, MAX_TXIDS } from '@quoin/overlay'
import { type TObject, Type } from '@sinclair/typebox'
import type { Context } from '../context.ts'
import { Hex, TopicName, Txid } from '../schemas.ts'

/** The list of a block, proofs and raw transactions read as many rows as so many requests of another route. */
const COST = 10

const Height = Type.Integer({ minimum: 0, maximum: 0xffffffff })
const Hash = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'In display order.' })
const Anchor = {
  blockHeight: Height,
  blockHash: Hash,
  basmRoot: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description: 'The merkle root over the admitted txids of the block, zero without any.'
  }),
  admittedCount: Type.Integer({ minimum: 0 }),
  tac: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description: 'The hash of the anchor before, the block hash and the root.'
  })
}
const Topic = { topic: TopicName }
const Txids = (minItems: number) => Type.Array(Txid, { minItems, maxItems: MAX_TXIDS })

interface Question {
  readonly summary: string
  readonly body: TObject
  readonly answer: TObject
  readonly cost?: number
}

const QUESTIONS: Readonly<Record<AnchorQuestion, Question>> = {
  tip: {
    summary: 'The last anchor of a topic; height -1 without any (BRC-136).',
    body: Type.Object({}),
    answer: Type.Object({
      ...Topic,
      ...Type.Partial(Type.Object(Anchor)).properties,
      blockHeight: Type.Integer({ minimum: -1 }),
      tac: Hash
    })
  },
  range: {
    summary: `The anchors of up to ${MAX_RANGE} heights, both ends included (BRC-136).`,
    body: Type.Object({
      fromHeight: Height,
      toHeight: Height,
      short: Type.Optional(
        Type.Boolean({ description: 'An extension: the anchors in short, if there are few.' })
      )
    }),
    answer: Type.Object({
      ...Topic,
      anchors: Type.Array(Type.Object(Anchor)),
      short: Type.Optional(
        Type.Object({
          roots: Type.Array(Type.String({ description: 'Empty without admitted transactions.' })),
          prefixes: Type.Array(Type.String({ description: 'The first four bytes of each admitted txid.' })),
          tac: Type.String({ description: 'The anchor of the last height.' })
        })
      )
    })
  },
  admitted: {
    summary: 'The transactions that a topic admitted from a block, in block order (BRC-136).',
    body: Type.Object({ blockHeight: Height, blockHash: Type.Optional(Hash) }),
    answer: Type.Object({
      ...Topic,
      blockHeight: Height,
      blockHash: Type.Optional(Hash),
      admitted: Type.Array(Type.Object({ txid: Txid, blockIndex: Type.Integer({ minimum: 0 }) }))
    }),
    cost: COST
  },
  proof: {
    summary: 'One BUMP of admitted transactions of a block (BRC-136).',
    body: Type.Object({ blockHeight: Height, txids: Txids(1) }),
    answer: Type.Object({ ...Topic, blockHeight: Height, txids: Type.Array(Txid), merklePath: Hex }),
    cost: COST
  },
  raw: {
    summary: 'Raw transactions by txid, without a topic (BRC-136).',
    body: Type.Object({ txids: Txids(0) }),
    answer: Type.Object({
      transactions: Type.Array(Type.Object({ txid: Txid, rawTx: Hex })),
      missing: Type.Array(Txid)
    }),
    cost: COST
  }
}

export const anchorRoutes = ({ engine }: Context): Route[] =>
  (Object.keys(QUESTIONS) as AnchorQuestion[]).map(question => {
    const { summary, body, answer, cost } = QUESTIONS[question]
    const path = ANCHOR_ROUTES[question]
    const isOfTopic = question !== 'raw'
    return route({
      method: 'post',
      path,
      name: path.slice(1),
      summary,
      tag: 'overlay',
      headers: { 'x-bsv-topic': isOfTopic ? TopicName : Type.Optional(TopicName) },
      body,
      responses: { 200: { description: 'The answer.', content: { [JSON_TYPE]: answer } } },
      ...(cost !== undefined && { cost }),
      handle: async ({ headers, body: request }) =>
        json(await answerAnchors(engine, question, headers['x-bsv-topic'] ?? '', request))
    })
  })
