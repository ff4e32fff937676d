/**
 * Packets of token proofs, BRC-176 as of bsv-blockchain/BRCs 189f905, a draft: a BEEF (BRC-62, BRC-96) and the outputs that
 * it is about. One envelope names them by a transaction (`01010101`, the framing of BRC-95), another by an outpoint
 * (`16a7beef`, BRC-158); a bare BEEF leaves them to the caller. A packet keeps the bodies of mined transactions, so it is
 * not an Atomic BEEF in the sense of BRC-95, and may have transactions that are no ancestors.
 */
import { Beef, type BeefLimits } from '@quoin/chain'
import { makeOutpoint, type Outpoint, QuoinError, type Txid, txidOf, voutOf } from '@quoin/primitives'

/** The version of the packets here, and the text that they follow. */
export const TOKEN_PROOF_VERSION = 1
export const TOKEN_PROOF_TEXT = 'BRC-176, bsv-blockchain/BRCs 189f905'

/** The scope that a packet states. */
type PacketScope =
  | { readonly kind: 'transaction'; readonly txid: Txid }
  | { readonly kind: 'outpoint'; readonly outpoint: Outpoint }
  | { readonly kind: 'none' }

export interface TokenPacket {
  readonly scope: PacketScope
  readonly beef: Beef
}

/** First bytes of the envelopes, and of a BEEF. */
const ATOMIC = '01010101'
const OUTPOINT = '16a7beef'
const BEEFS = ['0100beef', '0200beef']

const OUTPOINT_MAGIC = Uint8Array.of(0x16, 0xa7, 0xbe, 0xef)
const MAGIC_BYTES = 4
const TXID_BYTES = 32
const OUTPOINT_BYTES = 36

export const isTokenPacket = (bytes: Uint8Array): boolean =>
  [ATOMIC, OUTPOINT, ...BEEFS].includes(magicOf(bytes))

/** Throws `ERR_BEEF_FORMAT` and `ERR_BEEF_LIMIT`: then nothing is proved. */
export const readTokenPacket = (bytes: Uint8Array, limits: Partial<BeefLimits> = {}): TokenPacket => {
  const { scope, body } = readEnvelope(bytes)
  if (!BEEFS.includes(magicOf(body))) {
    throw new QuoinError(
      'ERR_BEEF_FORMAT',
      'invalid packet: expected a BEEF of version 1 or 2 in the envelope'
    )
  }
  return { scope, beef: Beef.parse(body, limits) }
}

const readEnvelope = (bytes: Uint8Array): { readonly scope: PacketScope; readonly body: Uint8Array } => {
  const magic = magicOf(bytes)
  if (magic !== ATOMIC && magic !== OUTPOINT) return { scope: { kind: 'none' }, body: bytes }
  const length = MAGIC_BYTES + (magic === ATOMIC ? TXID_BYTES : OUTPOINT_BYTES)
  if (bytes.length < length) {
    throw new QuoinError('ERR_BEEF_FORMAT', 'invalid packet: it ends within its envelope')
  }
  const body = bytes.subarray(length)
  const txid = bytes.slice(MAGIC_BYTES, MAGIC_BYTES + TXID_BYTES) as Txid
  if (magic === ATOMIC) return { scope: { kind: 'transaction', txid }, body }
  const vout = new DataView(bytes.buffer, bytes.byteOffset).getUint32(MAGIC_BYTES + TXID_BYTES, true)
  return { scope: { kind: 'outpoint', outpoint: makeOutpoint(txid, vout) }, body }
}

/** An Outpoint BEEF: a packet about one output. */
export const writeOutpointPacket = (outpoint: Outpoint, beef: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(MAGIC_BYTES + OUTPOINT_BYTES + beef.length)
  bytes.set(OUTPOINT_MAGIC)
  bytes.set(txidOf(outpoint), MAGIC_BYTES)
  new DataView(bytes.buffer).setUint32(MAGIC_BYTES + TXID_BYTES, voutOf(outpoint), true)
  bytes.set(beef, MAGIC_BYTES + OUTPOINT_BYTES)
  return bytes
}

const magicOf = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(0, MAGIC_BYTES)).toString('hex')
