/**
 * `bsv21`: fungible tokens (BSV-21), in the JSON form of BRC-161 and the binary form of BRC-162. In JSON they are
 * inscriptions of the media type `application/bsv-20`, the content an object with `"p":"bsv-20"` and
 *
 *     op            id     amt    sym, icon, dec
 *     deploy+mint   —      yes    optional
 *     deploy+auth   —      no     optional
 *     mint          yes    yes    —
 *     auth          yes    no     —
 *     transfer      yes    yes    —
 *     burn          yes    yes    —
 *
 * `amt` must be absent where the table says no. Everything else without a use in an operation is ignored. Malformed
 * attributes of a deployment (`sym`, `icon`, `dec`) count as absent and never make a claim invalid.
 *
 * An id has one spelling, `txid_vout` in lower case without leading zeros, so that no token has two names. An amount is
 * decimal text from 1 to 2^64 − 1, and leading zeros do not change it; an output with the amount 0 is no claim. `op` is
 * read without regard to case, as by other indexers.
 *
 * A script with the binary prefix is a binary token output, whatever is behind the prefix. Its roles have the names of
 * the operations, except `value`: an amount of a token, which is transferred or minted as its transaction spends.
 *
 * The result is a claim of the script: topics decide whether the token output is valid, and its satoshis do not matter.
 */
import { formatOutpoint, formatTxid, type Outpoint, type TokenId, txidOf, voutOf } from '@quoin/primitives'
import { binaryAttributes, readBinaryToken } from './bsv21-binary.ts'
import { readInscription } from './envelope.ts'
import { scriptEvents } from './events.ts'
import { type JsonFields, readJsonFields } from './json-fields.ts'
import { readOwners } from './locking.ts'
import type { ScriptParser } from './parser.ts'
import { isClaim } from './text.ts'
import { type ScriptView, viewOf } from './view.ts'

/** The operations of the JSON form. */
const OPERATIONS = ['deploy+mint', 'deploy+auth', 'mint', 'auth', 'transfer', 'burn'] as const
/** `value` is an amount of the binary form. */
export type Bsv21Operation = (typeof OPERATIONS)[number] | 'value'

export interface Bsv21 {
  readonly op: Bsv21Operation
  /** The token; for a deployment the output itself. */
  readonly id: TokenId
  /** None for `auth` and `deploy+auth`. */
  readonly amt: bigint | undefined
  readonly sym: string | undefined
  readonly dec: number | undefined
  /** An outpoint; `_3` is expanded to output 3 of the same transaction. */
  readonly icon: string | undefined
  /** BRC-161 or BRC-162. */
  readonly encoding: 'json' | 'binary'
}

const MEDIA_TYPE = 'application/bsv-20'
const FIELDS = ['p', 'op', 'id', 'amt', 'sym', 'dec', 'icon']
const MAX_AMOUNT = 2n ** 64n - 1n
const MAX_DECIMALS = 18n
const MAX_VOUT = 0xffffffff
/** A longer symbol counts as malformed: the data of an output stays small. */
const MAX_SYMBOL = 1024

export const decodeBsv21 = (script: Uint8Array | ScriptView, outpoint: Outpoint): Bsv21 | undefined => {
  const claim = viewOf(script).once(readClaim)
  if (!claim || (claim.encoding === 'binary' && claim.id === undefined && voutOf(outpoint) !== 0)) {
    return undefined
  }
  return {
    ...claim,
    id: claim.id ?? (formatOutpoint(outpoint, '_') as TokenId),
    sym:
      claim.sym !== undefined && claim.sym !== '' && claim.sym.length <= MAX_SYMBOL ? claim.sym : undefined,
    icon: claim.icon === undefined ? undefined : iconOf(claim.icon, outpoint)
  }
}

const isDeployment = (op: Bsv21Operation): op is 'deploy+mint' | 'deploy+auth' =>
  op === 'deploy+mint' || op === 'deploy+auth'

const iconOf = (icon: string, outpoint: Outpoint): string | undefined => {
  const expanded = icon.startsWith('_') ? formatTxid(txidOf(outpoint)) + icon : icon
  return isTokenId(expanded) ? expanded : undefined
}

/** The claim of the script alone: the id of a deployment is its own outpoint, which is not in the script. */
type ScriptClaim = Omit<Bsv21, 'id'> & { readonly id: TokenId | undefined }

const readClaim = (view: ScriptView): ScriptClaim | undefined => readBinaryClaim(view) ?? readJsonClaim(view)

const readBinaryClaim = (view: ScriptView): ScriptClaim | undefined => {
  const token = view.once(readBinaryToken)
  if (!token) return undefined
  const { id, payload } = token
  const amt = token.amt > 0n ? token.amt : undefined
  const encoding = 'binary'
  if (id !== undefined) return { op: amt ? 'value' : 'auth', id, amt, ...NO_ATTRIBUTES, encoding }
  return { op: amt ? 'deploy+mint' : 'deploy+auth', id, amt, ...binaryAttributes(payload), encoding }
}

const NO_ATTRIBUTES = { sym: undefined, dec: undefined, icon: undefined }

const readJsonClaim = (view: ScriptView): ScriptClaim | undefined => {
  const inscription = view.once(readInscription)
  if (inscription?.type !== MEDIA_TYPE) return undefined
  const fields = readJsonFields(inscription.content, FIELDS)
  if (fields?.get('p') !== 'bsv-20') return undefined
  const op = operationOf(fields.get('op'))
  if (!op) return undefined
  const isAuth = op === 'auth' || op === 'deploy+auth'
  const amt = isAuth ? undefined : amountOf(fields.get('amt'))
  if (isAuth ? fields.has('amt') : amt === undefined) return undefined
  const encoding = 'json'
  if (isDeployment(op)) return { op, id: undefined, amt, ...jsonAttributes(fields), encoding }
  const id = fields.get('id')
  return isTokenId(id) ? { op, id, amt, ...NO_ATTRIBUTES, encoding } : undefined
}

const jsonAttributes = (fields: JsonFields) => {
  const decimals = wholeNumber(fields.get('dec'))
  return {
    sym: fields.get('sym'),
    dec: decimals !== undefined && decimals <= MAX_DECIMALS ? Number(decimals) : undefined,
    icon: fields.get('icon')
  }
}

const operationOf = (text: string | undefined): (typeof OPERATIONS)[number] | undefined => {
  // Go's lower case of İ is i, with which other indexers compare; that of JavaScript has a combining dot.
  const op = text?.replaceAll('\u0130', 'i').toLowerCase()
  return OPERATIONS.find(each => each === op)
}

const amountOf = (text: string | undefined): bigint | undefined => {
  const amount = wholeNumber(text)
  return amount !== undefined && amount > 0n && amount <= MAX_AMOUNT ? amount : undefined
}

/** Decimal digits of a number below 10^20; undefined for other text. */
const wholeNumber = (text: string | undefined): bigint | undefined => {
  const [, digits] = /^0*([0-9]{1,20})$/.exec(text ?? '') ?? []
  return digits === undefined ? undefined : BigInt(digits)
}

export const isTokenId = (value: unknown): value is TokenId =>
  typeof value === 'string' &&
  /^[0-9a-f]{64}_(?:0|[1-9][0-9]{0,9})$/.test(value) &&
  Number(value.slice(65)) <= MAX_VOUT

/** The data of a token output under `dt:bsv21`, by the parser and by topics. */
export interface Bsv21Data {
  readonly id: TokenId
  readonly op: Bsv21Operation
  /** In decimal. */
  readonly amt?: string
  readonly sym?: string
  readonly dec?: number
  readonly icon?: string
  /** Of the binary form alone. */
  readonly encoding?: 'binary'
}

export const bsv21Data = ({ id, op, amt, sym, dec, icon, encoding }: Bsv21): Bsv21Data => ({
  id,
  op,
  ...(amt !== undefined && { amt: amt.toString() }),
  ...(sym !== undefined && { sym }),
  ...(dec !== undefined && { dec }),
  ...(icon !== undefined && { icon }),
  ...(encoding === 'binary' && { encoding })
})

const { bsv21Op, bsv21Id, bsv21Symbol } = scriptEvents.types

export const bsv21Parser: ScriptParser = {
  tag: 'bsv21',
  about: 'Claims to BSV21 tokens.',
  parse(view, { outpoint }) {
    const token = decodeBsv21(view, outpoint)
    if (!token) return undefined
    const { op, id, sym } = token
    return {
      data: bsv21Data(token),
      events: [
        bsv21Id.text(id),
        ...(isDeployment(op) ? [bsv21Op.text(op)] : []),
        ...(isClaim(sym) ? [bsv21Symbol.text(sym)] : [])
      ],
      owners: view.once(readOwners)
    }
  }
}
