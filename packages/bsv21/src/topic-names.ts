/** The topics of BSV21: one for all deployments, and one for each token, named after it. */
import type { TokenId, Topic } from '@quoin/primitives'
import { isTokenId } from '@quoin/txo'

export const DISCOVERY = 'tm_bsv21' as Topic
const PREFIX = 'tm_'

export const topicOf = (token: TokenId): Topic => `${PREFIX}${token}` as Topic

/** The token whose topic it is; undefined for any other topic. */
export const tokenOfTopic = (topic: string): TokenId | undefined => {
  if (!topic.startsWith(PREFIX)) return undefined
  const token = topic.slice(PREFIX.length)
  return isTokenId(token) ? token : undefined
}
