/** The header `x-topics`: a JSON array, or names with commas between them, as clients of different ages send it. */
import { QuoinError } from '@quoin/primitives'
import { type TString, Type } from '@sinclair/typebox'
import { TopicName } from './schemas.ts'

const NAME = new RegExp(TopicName.pattern!)

export const topicListHeader = (maxTopics: number): TString =>
  Type.String({
    minLength: 1,
    maxLength: maxTopics * 132 + 2,
    description: `The topics, as a JSON array or with commas between them; at most ${maxTopics}.`
  })

/** The names of `tm_a, tm_b` and of `["tm_a","tm_b"]`. */
export const parseTopicList = (text: string, maxTopics: number): string[] => {
  const topics = text.trim().startsWith('[') ? parseJson(text) : text.split(',').map(name => name.trim())
  if (!Array.isArray(topics))
    throw refusal('invalid JSON: expected an array of topics, or names with commas between them')
  if (topics.length > maxTopics) throw refusal(`too many topics: ${topics.length}, at most ${maxTopics}`)
  const invalid = topics.findIndex(name => typeof name !== 'string' || !NAME.test(name))
  if (invalid !== -1)
    throw refusal(
      `invalid topic at position ${invalid}: expected 1 to 128 letters, digits, dots, underscores or hyphens`
    )
  return topics
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const refusal = (message: string): QuoinError =>
  new QuoinError('ERR_REQUEST', `header /x-topics: ${message}`, { where: 'header', path: '/x-topics' })
