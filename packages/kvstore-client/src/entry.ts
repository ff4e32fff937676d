/** Entries as they are read from an overlay: verified, and of the tuple that they were asked for. */
import type { Transaction } from '@bsv/sdk'
import type { Bundle } from './bundle.ts'
import { isRefusal, type KvContent, type ProtocolID, protocolText } from './token.ts'
import { verifyScript } from './verify.ts'

export interface KvEntry extends KvContent {
  /** `txid.vout` */
  readonly outpoint: string
  readonly satoshis: number
}

/** What identifies an entry (BRC-35 §1). */
export interface KvTuple {
  readonly protocolID: ProtocolID
  readonly key: string
  readonly controller: string
}

/** An entry with where it is from. */
export interface Found extends KvEntry {
  readonly script: Uint8Array
  readonly transaction: Transaction
  readonly bundle: Bundle
}

/** The parts are told apart: a controller has one length, and protocols are JSON. */
export const tupleText = ({ controller, protocolID, key }: KvTuple): string =>
  `${controller}${protocolText(protocolID)}${key}`

/** The entry of an output; undefined when it is none, or when the transaction did not come along. */
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

/** Without where it is from. */
export const shown = ({ script: _, transaction: __, bundle: ___, ...entry }: Found): KvEntry => entry

export interface Selectors {
  readonly key?: string
  readonly controller?: string
  readonly protocolID?: ProtocolID
  readonly tags?: readonly string[]
  readonly tagQueryMode?: 'all' | 'any'
}

/** Whether an entry is what was asked for (§3.5). */
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

/** What a transaction spends, input by input. */
export const spentBy = ({ inputs }: Transaction): string[] =>
  inputs.map(({ sourceTXID, sourceOutputIndex }) => `${sourceTXID}.${sourceOutputIndex}`)
