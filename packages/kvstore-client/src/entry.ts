/** Verified entries of lookup answers, and the selectors that they have to match. */
import type { Transaction } from '@bsv/sdk'
import type { Bundle } from './bundle.ts'
import { isRefusal, type KvContent } from './token.ts'
import { type ProtocolID, protocolText } from './tuple.ts'
import { verifyScript } from './verify.ts'

export interface KvEntry extends KvContent {
  /** `txid.vout` */
  readonly outpoint: string
  readonly satoshis: number
}

/** An entry with its locking script, transaction and BEEF. */
export interface Found extends KvEntry {
  readonly script: Uint8Array
  readonly transaction: Transaction
  readonly bundle: Bundle
}

/** The entry of an output; undefined when the output is not a valid token or its transaction is not in the bundle. */
export const entryAt = (bundle: Bundle, txid: string, vout: number): Found | undefined => {
  const transaction = bundle.transaction(txid)
  const output = transaction?.outputs[vout]
  if (!transaction || !output) return undefined
  const script = Uint8Array.from(output.lockingScript.toBinary())
  const token = verifyScript(script)
  if (isRefusal(token)) return undefined
  const { protocolID, key, value, valueBytes, controller, tags } = token
  const outpoint = `${txid}.${vout}`
  const satoshis = output.satoshis ?? 0
  const content = { protocolID, key, value, ...(valueBytes && { valueBytes }), controller, tags }
  return { ...content, outpoint, satoshis, script, transaction, bundle }
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
