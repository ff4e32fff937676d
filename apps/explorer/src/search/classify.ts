/**
 * Readings of a pasted text, the most likely first. An unambiguous form has one reading; otherwise there are several,
 * and a request tells which of them the node knows.
 */
import { addressBytes } from '../address.ts'
import { outpointOf, short } from '../format.ts'
import { paths } from '../paths.ts'

type Kind =
  | 'transaction'
  | 'output'
  | 'token'
  | 'address'
  | 'controller'
  | 'topic'
  | 'event'
  | 'symbol'
  | 'entry key'
  | 'pool'
  | 'raw key'

export interface SearchReading {
  readonly kind: Kind
  /** The name in the view's URL. */
  readonly name: string
  readonly href: string
}

/** The limit on the length of names. */
export const LONGEST = 5000

export const classify = (given: string): readonly SearchReading[] => {
  const text = given.trim()
  if (text === '' || text.length > LONGEST) return []
  return [...ofOutpoint(text), ...ofHex(text), ...ofNumber(text), ...ofText(text)]
}

const reading = (kind: Kind, name: string, href: string): SearchReading => ({ kind, name, href })

const ofOutpoint = (text: string): SearchReading[] => {
  const found = outpointOf(text) ?? fromBytes(text)
  if (!found) return []
  const { txid, vout } = found
  return [
    reading('output', `${txid}.${vout}`, paths.output(`${txid}.${vout}`)),
    reading('token', `${txid}_${vout}`, paths.token(`${txid}_${vout}`)),
    reading('transaction', txid, paths.transaction(txid))
  ]
}

/** The 36 bytes of an outpoint as the store has them: the txid in hash order, then the output index, big endian. */
const fromBytes = (text: string) => {
  if (!/^[0-9a-f]{72}$/i.test(text)) return undefined
  const txid = text.slice(0, 64).toLowerCase().match(/../g)!.reverse().join('')
  return { txid, vout: Number.parseInt(text.slice(64), 16) }
}

const ofHex = (text: string): SearchReading[] => {
  const hex = text.replace(/^0x/i, '').replaceAll(/\s/g, '').toLowerCase()
  if (!/^([0-9a-f]{2}){2,2048}$/.test(hex)) return []
  return [
    ...(hex.length === 64 ? [reading('transaction', hex, paths.transaction(hex))] : []),
    ...(/^0[23][0-9a-f]{64}$/.test(hex)
      ? [reading('controller', hex, paths.entries({ controller: hex }))]
      : []),
    // A number is rarely a key, and has readings of its own.
    ...(/^\d{1,19}$/.test(text) ? [] : [reading('raw key', hex, paths.explain(hex))])
  ]
}

const ofNumber = (text: string): SearchReading[] =>
  /^(0|[1-9]\d{0,19})$/.test(text) ? [reading('pool', text, paths.pool(text))] : []

const ofText = (text: string): SearchReading[] => {
  const isOther = outpointOf(text) !== undefined || /^[0-9a-f]{64,}$/i.test(text)
  return [
    ...(addressBytes(text) ? [reading('address', text, paths.address(text))] : []),
    ...(/^tm_[\w.-]{1,125}$/.test(text) ? [reading('topic', text, paths.find(`tp:${text}`))] : []),
    ...(/^[a-z][a-z0-9]*(-[a-z0-9]+)*:\S/.test(text) ? [reading('event', text, paths.find(text))] : []),
    ...(!isOther && text.length <= LONGEST_SYMBOL
      ? [reading('symbol', text, paths.tokens({ sym: text }))]
      : []),
    ...(!isOther && text.length <= LONGEST_KEY
      ? [reading('entry key', text, paths.entries({ key: text }))]
      : [])
  ]
}

const LONGEST_SYMBOL = 64
const LONGEST_KEY = 800

/** A reading as text for people. */
export const describe = ({ kind, name }: SearchReading): string =>
  kind === 'raw key'
    ? `raw key of ${name.length / 2} bytes`
    : `${kind} ${name.length > 48 ? short(name, 12) : name}`
