/**
 * `aip`: signatures over the data between the OP_RETURN and the signature (Author Identity Protocol):
 *
 *     ‹algorithm› ‹address› ‹signature› [‹field number› …]
 *
 * The message is the byte 6a of the OP_RETURN and the data of all pushes up to the name of the protocol, separators and
 * earlier signatures included, as a Bitcoin Signed Message. The form of Twetch is valid too: the SHA-256, as
 * hexadecimal text, of the same data without the 6a and without the last separator. Field numbers count from the
 * OP_RETURN, which is 0. A list of them must name every field, in order: a signature over some of the fields is not
 * valid for the output.
 *
 * A signature over no data, or over opcodes that push no data, is invalid. The first 16 signatures of an output are
 * read.
 */

import { sha256 } from '@quoin/chain'
import { pushedBy, ScriptCursor } from '@quoin/primitives'
import { type Bitcom, fieldsOf, readBitcom, type Segment, segmentsOf } from './bitcom.ts'
import { scriptEvents } from './events.ts'
import { NONE, type ScriptParser } from './parser.ts'
import { readSignature, signerOf } from './signed-message.ts'
import { hexOf, textOf } from './text.ts'
import { type ScriptView, viewOf } from './view.ts'

export interface AuthorSignature {
  /** The number of its segment in the output; it signs the segments before. */
  readonly segment: number
  readonly algorithm: string
  readonly address: string
  readonly signature: Uint8Array
  readonly valid: boolean
}

const PROTOCOL = '15PciHG22SNLQJXMoSUaWVi7WSqc7hCfva'
const ALGORITHMS = ['BITCOIN_ECDSA', 'BitcoinSignedMessage']
export const MAX_SIGNATURES = 16
/** Field numbers are one byte each. */
const MAX_FIELDS = 3 + 256
const MAX_ADDRESS = 64

export const decodeAip = (script: Uint8Array | ScriptView): readonly AuthorSignature[] =>
  viewOf(script).once(readAip)

export const readAip = (view: ScriptView): readonly AuthorSignature[] => {
  const bitcom = view.once(readBitcom)
  const segments = bitcom ? segmentsOf(bitcom, PROTOCOL).slice(0, MAX_SIGNATURES) : []
  if (!bitcom || segments.length === 0) return []
  const signed = signedBefore(
    bitcom,
    segments.map(([, segment]) => segment)
  )
  return segments.flatMap(([number, segment], i) => {
    const [algorithm, name, field, ...indexes] = fieldsOf(bitcom, segment, MAX_FIELDS)
    const signature = readSignature(field)
    const address = textOf(name, MAX_ADDRESS)
    const method = textOf(algorithm, MAX_ADDRESS)
    if (method === undefined || address === undefined || !signature) return []
    const message = signed[i]
    const valid =
      ALGORITHMS.includes(method) &&
      message !== undefined &&
      namesAll(indexes, message.fields) &&
      isSignedBy(address, message.bytes, signature)
    return [{ segment: number, algorithm: method, address, signature, valid }]
  })
}

interface SignedData {
  readonly bytes: Uint8Array
  /** The number of fields, with the OP_RETURN. */
  readonly fields: number
}

/** The message of each signature: a prefix of the data before the last one. */
const signedBefore = (
  { script, segments }: Bitcom,
  signing: readonly Segment[]
): (SignedData | undefined)[] => {
  const { separator, start } = segments[0]!
  const bytes = new Uint8Array(signing.at(-1)!.start - separator)
  bytes[0] = script[separator]!
  const cursor = new ScriptCursor(script, start)
  let length = 1
  let fields = 1
  let pushes = true
  return signing.map(segment => {
    while (pushes && cursor.end < segment.start && cursor.next()) {
      const data = pushedBy(cursor)
      if (!data) pushes = false
      else {
        bytes.set(data, length)
        length += data.length
        fields++
      }
    }
    return pushes && fields > 1 ? { bytes: bytes.subarray(0, length), fields } : undefined
  })
}

const namesAll = (indexes: readonly Uint8Array[], fields: number): boolean =>
  indexes.length === 0 || (indexes.length === fields && indexes.every((index, i) => numberOf(index) === i))

const numberOf = (index: Uint8Array): number => (index.length > 1 ? -1 : (index[0] ?? 0))

const isSignedBy = (address: string, message: Uint8Array, signature: Uint8Array): boolean =>
  signerOf(message, signature) === address || signerOf(twetchMessage(message), signature) === address

const twetchMessage = (message: Uint8Array): Uint8Array =>
  Uint8Array.from(Buffer.from(hexOf(sha256(message.subarray(1, -1)))))

/** Events of the distinct signers. */
export const signerEvents = (signatures: readonly { address: string; valid: boolean }[]): string[] =>
  [...new Set(signatures.filter(({ valid }) => valid).map(({ address }) => address))].map(address =>
    scriptEvents.types.signer.text(address)
  )

export const aipParser: ScriptParser = {
  tag: 'aip',
  about: 'Signatures over what stands behind an OP_RETURN.',
  parse(view) {
    const signatures = view.once(readAip)
    if (signatures.length === 0) return undefined
    return {
      data: signatures.map(({ algorithm, address, signature, valid }) => ({
        algorithm,
        address,
        signature: hexOf(signature),
        valid
      })),
      events: signerEvents(signatures),
      owners: NONE
    }
  }
}
