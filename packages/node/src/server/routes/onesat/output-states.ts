/** The states of outputs in the topic of a token, as newer versions of `@1sat/client` ask for them. */
import { bsv21, parseTokenId, topicOf } from '@quoin/bsv21'
import { JSON_TYPE, json, type Route, route } from '@quoin/http'
import { parseOutpoint, txidOf } from '@quoin/primitives'
import { Type } from '@sinclair/typebox'
import { Outpoint as OutpointText } from '../../schemas.ts'
import { BASE, MAX_OUTPOINTS, type TokenContext, TokenIdText } from './bsv21.ts'

const { arrived } = bsv21.collections

const State = Type.Union(
  ['valid', 'spent', 'queued', 'unknown'].map(state => Type.Literal(state)),
  {
    description:
      '`valid` and unspent, `spent`, `queued`: its transaction has come and is not indexed, or `unknown` to the token.'
  }
)

export const outputStates = ({ engine: { outputs } }: TokenContext): Route =>
  route({
    method: 'post',
    path: `${BASE}/:token/outputs/status`,
    name: 'oneSatOutputStates',
    summary: 'The states of outputs, in their order.',
    tag: '1sat',
    params: { token: TokenIdText },
    body: Type.Array(OutpointText, { maxItems: MAX_OUTPOINTS }),
    responses: {
      200: {
        description: 'One for each output, which is spelled as in the request.',
        content: { [JSON_TYPE]: Type.Array(Type.Object({ outpoint: Type.String(), state: State })) }
      }
    },
    async handle({ params, body }) {
      const topic = topicOf(parseTokenId(params.token))
      const outpoints = body.map(parseOutpoint)
      const loaded = await outputs.loadOutputs(outpoints, { includeTopics: true, includeSpend: true })
      const staged = await outputs.store.use(arrived).getMany(outpoints.map(each => [txidOf(each)]))
      return json(
        body.map((outpoint, i) => {
          const { topics = [], spend } = loaded[i] ?? {}
          if (topics.includes(topic)) return { outpoint, state: spend ? 'spent' : 'valid' }
          return { outpoint, state: staged[i] ? 'queued' : 'unknown' }
        })
      )
    }
  })
