/**
 * `sigma`: signatures over an output and an input of its transaction (SIGMA protocol, BitcoinSchema/sigma):
 *
 *     ‹algorithm› ‹address› ‹signature› ‹number of the input›
 *
 * The message is SHA-256(SHA-256(outpoint of the input) ‖ SHA-256(script before the separator of this signature)), as
 * a Bitcoin Signed Message. The outpoint is the txid in display order and the output number little-endian; input −1 is
 * the input with the number of the output. A signature is checked with its transaction, and invalid without it. Of the
 * algorithms `BSM` is checked; `BRC77` is not.
 *
 * The first 16 signatures of an output are read.
 */
import { sha256, type Transaction } from '@quoin/chain'
import { voutOf } from '@quoin/primitives'
import { MAX_SIGNATURES, signerEvents } from './aip.ts'
import { fieldsOf, readBitcom, segmentsOf } from './bitcom.ts'
import { NONE, type ScriptParser } from './parser.ts'
import { readSignature, signerOf } from './signed-message.ts'
import { hexOf, textOf } from './text.ts'
import { type ScriptView, viewOf } from './view.ts'

export interface SigmaSignature {
  readonly algorithm: string
  readonly address: string
  readonly signature: Uint8Array
  /** The number of the input; −1 stands for the number of the output. */
  readonly vin: number
  readonly valid: boolean
}

const PROTOCOL = 'SIGMA'
const MAX_ADDRESS = 64

export const decodeSigma = (
  script: Uint8Array | ScriptView,
  output?: { readonly transaction: Transaction; readonly vout: number }
): readonly SigmaSignature[] => {
  const view = viewOf(script)
  const bitcom = view.once(readBitcom)
  const segments = bitcom ? segmentsOf(bitcom, PROTOCOL).slice(0, MAX_SIGNATURES) : []
  return segments.flatMap(([, segment]) => {
    const [algorithm, name, field, input] = fieldsOf(bitcom!, segment, 4)
    const method = textOf(algorithm, MAX_ADDRESS)
    const address = textOf(name, MAX_ADDRESS)
    const signature = readSignature(field)
    const vin = inputOf(textOf(input))
    if (method === undefined || address === undefined || !signature || vin === undefined) return []
    const message =
      method === 'BSM' && output
        ? messageOf(output, vin, view.script.subarray(0, segment.separator))
        : undefined
    const valid = message !== undefined && signerOf(message, signature) === address
    return [{ algorithm: method, address, signature, vin, valid }]
  })
}

const inputOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^(?:-1|0|[1-9][0-9]{0,8})$/.test(text) ? Number(text) : undefined

const messageOf = (
  { transaction, vout }: { readonly transaction: Transaction; readonly vout: number },
  vin: number,
  script: Uint8Array
): Uint8Array | undefined => {
  const input = transaction.inputs[vin === -1 ? vout : vin]
  if (!input) return undefined
  const outpoint = new Uint8Array(36)
  outpoint.set(input.txid)
  outpoint.subarray(0, 32).reverse()
  new DataView(outpoint.buffer).setUint32(32, input.vout, true)
  const hashes = new Uint8Array(64)
  hashes.set(sha256(outpoint))
  hashes.set(sha256(script), 32)
  return sha256(hashes)
}

export const sigmaParser: ScriptParser = {
  tag: 'sigma',
  about: 'Signatures over an output and an input.',
  parse(view, { transaction, outpoint }) {
    const signatures = decodeSigma(view, transaction && { transaction, vout: voutOf(outpoint) })
    if (signatures.length === 0) return undefined
    return {
      data: signatures.map(each => ({ ...each, signature: hexOf(each.signature) })),
      events: signerEvents(signatures),
      owners: NONE
    }
  }
}
