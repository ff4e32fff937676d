/** The topics of BSV21: one for all deployments, and one for each token, named after it. */
import type { TokenId, Topic } from '@quoin/primitives'
import { isTokenId } from '@quoin/txo'

export const DISCOVERY = 'tm_bsv21' as Topic
const PREFIX = 'tm_'

/**
 * The topic of a token: `tm_{tokenId}`.
 *
 * @example
 * const topic = topicOf(parseTokenId(`${'00'.repeat(31)}ff_0`))
 * topic // 'tm_…ff_0'
 * tokenOfTopic(topic) // '…ff_0'
 */
export const topicOf = (token: TokenId): Topic => `${PREFIX}${token}` as Topic

/** The token whose topic it is; undefined for any other topic. */
export const tokenOfTopic = (topic: string): TokenId | undefined => {
  if (!topic.startsWith(PREFIX)) return undefined
  const token = topic.slice(PREFIX.length)
  return isTokenId(token) ? token : undefined
}
