/** The names of the BSV21 topics: one for all deployments, and one for each token. */
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

/** The token of a topic; undefined for other topics. */
export const tokenOfTopic = (topic: string): TokenId | undefined => {
  if (!topic.startsWith(PREFIX)) return undefined
  const token = topic.slice(PREFIX.length)
  return isTokenId(token) ? token : undefined
}
