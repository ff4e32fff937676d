/**
 * `bsv21`: fungible tokens as inscriptions (docs.1satordinals.com, BSV-21). The media type is `application/bsv-20`, the
 * content a JSON object with `"p":"bsv-20"` and
 *
 *     op            id     amt    sym, icon, dec
 *     deploy+mint   —      yes    optional
 *     deploy+auth   —      no     optional
 *     mint          yes    yes    —
 *     auth          yes    no     —
 *     transfer      yes    yes    —
 *     burn          yes    yes    —
 *
 * Fields without a use in an operation are ignored, except that `amt` must be absent where the table says no, and `dec`
 * is checked in every operation. Of two equal keys the last counts, as in every JSON parser.
 *
 * Each value has one spelling, so that no token has two names and no output two amounts: an id is `txid_vout` in lower
 * case without leading zeros, an amount is decimal text from 1 to 2^64 − 1 without leading zeros, decimals are the text
 * of 0 to 18. `op` alone is read without regard to case, as by other indexers. Any other spelling is not BSV21.
 *
 * The result is a claim of the script: topics decide whether the token output is valid, and its satoshis do not matter.
 */
import { formatOutpoint, formatTxid, type Outpoint, type TokenId, txidOf } from '@quoin/primitives'
import { readInscription } from './envelope.ts'
import { scriptEvents } from './events.ts'
import { readOwners } from './locking.ts'
import type { ScriptParser } from './parser.ts'
import { isClaim, textOf } from './text.ts'
import { type ScriptView, viewOf } from './view.ts'

const OPERATIONS = ['deploy+mint', 'deploy+auth', 'mint', 'auth', 'transfer', 'burn'] as const
export type Bsv21Operation = (typeof OPERATIONS)[number]

export interface Bsv21 {
  readonly op: Bsv21Operation
  /** The token; for a deployment the output itself. */
  readonly id: TokenId
  /** None for `auth` and `deploy+auth`. */
  readonly amt: bigint | undefined
  readonly sym: string | undefined
  readonly dec: number | undefined
  /** An outpoint or other text; `_3` is expanded to output 3 of the same transaction. */
  readonly icon: string | undefined
}

const MEDIA_TYPE = 'application/bsv-20'
const MAX_AMOUNT = 2n ** 64n - 1n
const MAX_VOUT = 0xffffffff
/** Longer content is not BSV21. Real content has a few hundred bytes; nested brackets are expensive to parse. */
const MAX_CONTENT = 64 * 1024

export const decodeBsv21 = (script: Uint8Array | ScriptView, outpoint: Outpoint): Bsv21 | undefined => {
  const claim = viewOf(script).once(readClaim)
  if (!claim) return undefined
  const { id, icon } = claim
  return {
    ...claim,
    id: id ?? (formatOutpoint(outpoint, '_') as TokenId),
    icon: icon !== undefined && /^_[0-9]{1,10}$/.test(icon) ? formatTxid(txidOf(outpoint)) + icon : icon
  }
}

const isDeployment = (op: Bsv21Operation): op is 'deploy+mint' | 'deploy+auth' =>
  op === 'deploy+mint' || op === 'deploy+auth'

/** The claim of the script alone: the id of a deployment is its own outpoint, which is not in the script. */
const readClaim = (view: ScriptView): (Omit<Bsv21, 'id'> & { id: TokenId | undefined }) | undefined => {
  const inscription = view.once(readInscription)
  if (inscription?.type !== MEDIA_TYPE) return undefined
  const fields = readObject(textOf(inscription.content, MAX_CONTENT))
  if (fields?.['p'] !== 'bsv-20') return undefined
  const op = operationOf(fields['op'])
  if (!op) return undefined
  const isAuth = op === 'auth' || op === 'deploy+auth'
  const amt = isAuth ? undefined : amountOf(fields['amt'])
  if (isAuth ? Object.hasOwn(fields, 'amt') : amt === undefined) return undefined
  const dec = decimalsOf(fields['dec'])
  if (dec === undefined && Object.hasOwn(fields, 'dec')) return undefined
  if (!isDeployment(op)) {
    const id = fields['id']
    return isTokenId(id) ? { op, id, amt, sym: undefined, dec, icon: undefined } : undefined
  }
  const { sym, icon } = fields
  if (!isTextIfThere(sym) || !isTextIfThere(icon)) return undefined
  return { op, id: undefined, amt, sym, dec, icon }
}

const readObject = (text: string | undefined): Record<string, unknown> | undefined => {
  // Text of a JSON object: other content is not parsed.
  if (text === undefined || !/^[ \t\r\n]*\{/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const operationOf = (value: unknown): Bsv21Operation | undefined =>
  typeof value === 'string' ? OPERATIONS.find(op => op === value.toLowerCase()) : undefined

const amountOf = (value: unknown): bigint | undefined => {
  if (typeof value !== 'string' || !/^[1-9][0-9]{0,19}$/.test(value)) return undefined
  const amount = BigInt(value)
  return amount <= MAX_AMOUNT ? amount : undefined
}

const decimalsOf = (value: unknown): number | undefined =>
  typeof value === 'string' && /^(?:[0-9]|1[0-8])$/.test(value) ? Number(value) : undefined

export const isTokenId = (value: unknown): value is TokenId =>
  typeof value === 'string' &&
  /^[0-9a-f]{64}_(?:0|[1-9][0-9]{0,9})$/.test(value) &&
  Number(value.slice(65)) <= MAX_VOUT

const isTextIfThere = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === 'string'

/** The data of a token output under `dt:bsv21`, by the parser and by topics. */
export interface Bsv21Data {
  readonly id: TokenId
  readonly op: Bsv21Operation
  /** In decimal. */
  readonly amt?: string
  readonly sym?: string
  readonly dec?: number
  readonly icon?: string
}

export const bsv21Data = ({ id, op, amt, sym, dec, icon }: Bsv21): Bsv21Data => ({
  id,
  op,
  ...(amt !== undefined && { amt: amt.toString() }),
  ...(sym !== undefined && { sym }),
  ...(dec !== undefined && { dec }),
  ...(icon !== undefined && { icon })
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
