/** Changes on the journal of another node: the transactions with tokens among them. */

import { parseTxid, QuoinError, type Txid } from '@quoin/primitives'
import { DISCOVERY, tokenOfTopic } from '../topic-names.ts'

/** The transaction of a change with token outputs, or with spends of them; undefined for other changes. */
export const tokenTransactionOf = (event: string, data: string): Txid | undefined => {
  if (event !== 'saved' && event !== 'moved') return undefined
  const { txid, outputs: changed, spends } = readChange(data)
  const isOfTokens =
    changed.some(({ topics }) => topics?.some(isOurs)) ||
    spends.some(({ events }) => events?.some(each => TOKEN_EVENT.test(each)))
  return isOfTokens ? parseTxid(txid) : undefined
}

const TOKEN_EVENT = /^id:[0-9a-f]{64}_\d+$/
const isOurs = (topic: string): boolean => topic === DISCOVERY || tokenOfTopic(topic) !== undefined

interface Change {
  readonly txid: string
  readonly outputs: readonly { readonly topics?: readonly string[] }[]
  readonly spends: readonly { readonly events?: readonly string[] }[]
}

const readChange = (data: string): Change => {
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch (cause) {
    throw new QuoinError('ERR_SOURCE_FORMAT', 'a change that is not JSON', { cause })
  }
  const { txid, outputs: changed, spends } = (value ?? {}) as Partial<Change>
  const isChange =
    typeof txid === 'string' &&
    /^[0-9a-f]{64}$/.test(txid) &&
    isListOf(changed, ({ topics }) => isTexts(topics)) &&
    isListOf(spends, ({ events }) => isTexts(events))
  if (!isChange) throw new QuoinError('ERR_SOURCE_FORMAT', 'a change of another form')
  return { txid, outputs: changed!, spends: spends! }
}

const isTexts = (value: unknown): boolean =>
  value === undefined || (Array.isArray(value) && value.every(each => typeof each === 'string'))
const isListOf = <T>(value: readonly T[] | undefined, isGood: (each: T) => boolean): boolean =>
  Array.isArray(value) && value.every(each => typeof each === 'object' && each !== null && isGood(each))
