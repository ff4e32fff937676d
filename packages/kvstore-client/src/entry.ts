/** Verified entries of lookup answers, and the selectors that they have to match. */
import type { Transaction } from '@bsv/sdk'
import type { Bundle } from './bundle.ts'
import { isRefusal, type KvContent, type ProtocolID, protocolText } from './token.ts'
import { verifyScript } from './verify.ts'

export interface KvEntry extends KvContent {
  /** `txid.vout` */
  readonly outpoint: string
  readonly satoshis: number
}

/** The identity of an entry (BRC-35 §1). */
export interface KvTuple {
  readonly protocolID: ProtocolID
  readonly key: string
  readonly controller: string
}

/** An entry with its locking script, transaction and BEEF. */
export interface Found extends KvEntry {
  readonly script: Uint8Array
  readonly transaction: Transaction
  readonly bundle: Bundle
}

/** Map key of a tuple. It is unambiguous: a controller has a fixed length, and the JSON of a protocol is self-delimiting. */
export const tupleText = ({ controller, protocolID, key }: KvTuple): string =>
  `${controller}${protocolText(protocolID)}${key}`

/** The entry of an output; undefined when the output is not a valid token or its transaction is not in the bundle. */
export const entryAt = (bundle: Bundle, txid: string, vout: number): Found | undefined => {
  const transaction = bundle.transaction(txid)
  const output = transaction?.outputs[vout]
  if (!transaction || !output) return undefined
  const script = Uint8Array.from(output.lockingScript.toBinary())
  const token = verifyScript(script)
  if (isRefusal(token)) return undefined
  const { protocolID, key, value, controller, tags } = token
  const outpoint = `${txid}.${vout}`
  const satoshis = output.satoshis ?? 0
  return { protocolID, key, value, controller, tags, outpoint, satoshis, script, transaction, bundle }
}

/** The public part of a found entry. */
export const toEntry = ({ script: _, transaction: __, bundle: ___, ...entry }: Found): KvEntry => entry

export interface Selectors {
  readonly key?: string
  readonly controller?: string
  readonly protocolID?: ProtocolID
  readonly tags?: readonly string[]
  readonly tagQueryMode?: 'all' | 'any'
}

/** Whether the selectors select an entry (§3.5). */
export const matches = (
  { key, controller, protocolID, tags = [], tagQueryMode = 'all' }: Selectors,
  entry: KvContent
): boolean =>
  (key === undefined || key === entry.key) &&
  (controller === undefined || controller === entry.controller) &&
  (protocolID === undefined || protocolText(protocolID) === protocolText(entry.protocolID)) &&
  (tags.length === 0 ||
    (tagQueryMode === 'all'
      ? tags.every(tag => entry.tags.includes(tag))
      : tags.some(tag => entry.tags.includes(tag))))

/** Spent outpoints by input. */
export const spentBy = ({ inputs }: Transaction): string[] =>
  inputs.map(({ sourceTXID, sourceOutputIndex }) => `${sourceTXID}.${sourceOutputIndex}`)
