/** Changes on the journal of another node: the transactions with tokens among them. */

import { parseTxid, QuoinError, type Txid } from '@quoin/primitives'
import { DISCOVERY, tokenOfTopic } from '../topic-names.ts'

/**
 * The transaction of a change with token outputs, or with spends of them; none of other changes. A spender that was in the
 * index before the output that it spends is a transaction of the output's change.
 */
export const tokenTransactionsOf = (event: string, data: string): Txid[] => {
  if (event !== 'saved' && event !== 'moved') return []
  const { txid, outputs: changed, spends } = readChange(data)
  const made = changed.filter(({ topics }) => topics?.some(isOurs))
  const isSpender = spends.some(
    ({ events, topics }) => topics?.some(isOurs) || events?.some(each => TOKEN_EVENT.test(each))
  )
  const spenders = made.flatMap(({ spender }) => spender ?? [])
  return made.length > 0 || isSpender ? [txid, ...spenders].map(parseTxid) : []
}

const TOKEN_EVENT = /^id:[0-9a-f]{64}_\d+$/
const isOurs = (topic: string): boolean => topic === DISCOVERY || tokenOfTopic(topic) !== undefined

interface Change {
  readonly txid: string
  readonly outputs: readonly { readonly topics?: readonly string[]; readonly spender?: string }[]
  readonly spends: readonly { readonly topics?: readonly string[]; readonly events?: readonly string[] }[]
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
    isTxid(txid) &&
    isListOf(
      changed,
      ({ topics, spender }) => isTexts(topics) && (spender === undefined || isTxid(spender))
    ) &&
    isListOf(spends, ({ topics, events }) => isTexts(topics) && isTexts(events))
  if (!isChange) throw new QuoinError('ERR_SOURCE_FORMAT', 'a change of another form')
  return { txid, outputs: changed!, spends: spends! }
}

const isTxid = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
const isTexts = (value: unknown): boolean =>
  value === undefined || (Array.isArray(value) && value.every(each => typeof each === 'string'))
const isListOf = <T>(value: readonly T[] | undefined, isGood: (each: T) => boolean): boolean =>
  Array.isArray(value) && value.every(each => typeof each === 'object' && each !== null && isGood(each))
