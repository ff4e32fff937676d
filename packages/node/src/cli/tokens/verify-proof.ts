/** `quoin token verify`: checks a token proof with headers alone. Nothing is asked of a node but, if wanted, headers. */
import { readFile } from 'node:fs/promises'
import {
  isTokenPacket,
  parseTokenId,
  provedOutputJson,
  TOKEN_PROOF_TEXT,
  TOKEN_PROOF_VERSION,
  type TokenProof,
  verifyTokenProof
} from '@quoin/bsv21'
import { formatHash, headerFileRoots, peerSource, type RootTracker, readHeaders } from '@quoin/chain'
import { formatOutpoint, type Outpoint, parseOutpoint, QuoinError, reasonOf } from '@quoin/primitives'
import { EXIT, paint, print, printJson } from '@quoin/primitives/command'
import { shownAmount } from './token-text.ts'

export interface VerifyProofOptions {
  readonly headers: string
  readonly from: string
  readonly output?: readonly string[]
  readonly json?: boolean
}

interface ProofFile {
  readonly packet: Uint8Array
  /** The outputs and the token that a file in JSON names. */
  readonly subjects?: readonly Outpoint[]
  readonly token?: string
}

export const verifyProof = async (
  path: string,
  { headers, from, output, json = false }: VerifyProofOptions
): Promise<number> => {
  if (!/^(0|[1-9][0-9]{0,8})$/.test(from)) {
    throw new QuoinError('ERR_USAGE', `--from is the height of the first header, a whole number, not ${from}`)
  }
  const { packet, subjects, token } = parseProofFile(await read(path), path)
  const tracker = /^https?:/.test(headers) ? nodeRoots(headers) : await headerFileRoots(headers, Number(from))
  const proof = await verifyTokenProof(packet, { tracker, subjects: output?.map(parseOutpoint) ?? subjects })
  const other = token && proof.proved.find(({ id }) => id !== token)
  if (other) {
    throw new QuoinError(
      'ERR_REQUEST',
      `${path} says that it is about ${token}, and proves an output of ${other.id}`
    )
  }
  report(proof, json)
  return proof.proved.length > 0 && proof.unproved.length === 0 ? EXIT.ok : EXIT.no
}

const report = ({ proved, unproved }: TokenProof, json: boolean): void => {
  if (json) {
    printJson({
      version: TOKEN_PROOF_VERSION,
      proved: proved.map(provedOutputJson),
      unproved: unproved.map(({ outpoint, reason }) => ({ outpoint: formatOutpoint(outpoint), reason }))
    })
    return
  }
  for (const { outpoint, id, op, amount } of proved) {
    const what = amount > 0n ? `${shownAmount(amount.toString(), 0)} units` : 'an authority'
    print(`${paint('green', 'valid')}    ${formatOutpoint(outpoint)}  ${what} of ${id} (${op})`)
  }
  for (const { outpoint, reason } of unproved) {
    print(`${paint('red', 'unproved')} ${formatOutpoint(outpoint)}  ${reason}`)
  }
  if (proved.length + unproved.length === 0) print('The packet names no token output.')
  print(`Verified by ${TOKEN_PROOF_TEXT}. Whether outputs are unspent is not proved.`)
}

const read = async (path: string): Promise<Uint8Array> => {
  try {
    return await readFile(path)
  } catch (error) {
    throw new QuoinError('ERR_FILE', `cannot read ${path}: ${reasonOf(error)}`, { path, cause: error })
  }
}

/** A packet in bytes, hexadecimal or base64, or JSON with `beef`, `subjects` and `assetId`. */
const parseProofFile = (bytes: Uint8Array, path: string): ProofFile => {
  if (isTokenPacket(bytes)) return { packet: bytes }
  const text = Buffer.from(bytes).toString('utf8').trim()
  if (!text.startsWith('{')) return { packet: packetOf(text, path) }
  let fields: { readonly beef?: unknown; readonly subjects?: unknown; readonly assetId?: unknown }
  try {
    fields = JSON.parse(text)
  } catch (cause) {
    throw malformed(path, 'it begins with { and is not JSON', cause)
  }
  const { beef, subjects, assetId } = fields
  if (typeof beef !== 'string') throw malformed(path, 'its JSON has no text "beef"')
  const isList = Array.isArray(subjects) && subjects.every(each => typeof each === 'string')
  if (subjects !== undefined && !isList) throw malformed(path, '"subjects" is not a list of outpoints')
  return {
    packet: packetOf(beef, path),
    ...(isList && { subjects: subjects.map(parseOutpoint) }),
    ...(typeof assetId === 'string' && { token: parseTokenId(assetId) })
  }
}

const packetOf = (text: string, path: string): Uint8Array => {
  for (const encoding of ['hex', 'base64'] as const) {
    const isWhole = encoding === 'hex' ? /^([0-9a-f]{2})+$/i.test(text) : /^[A-Za-z0-9+/]+={0,2}$/.test(text)
    const bytes = isWhole ? new Uint8Array(Buffer.from(text, encoding)) : undefined
    if (bytes && isTokenPacket(bytes)) return bytes
  }
  throw malformed(path, 'expected a packet in bytes, hexadecimal or base64, or JSON with "beef"')
}

const malformed = (path: string, reason: string, cause?: unknown): QuoinError =>
  new QuoinError('ERR_BEEF_FORMAT', `${path} is not a token proof: ${reason}`, { path, cause })

/** The roots of a node's headers, which are believed. */
const nodeRoots = (url: string): RootTracker => {
  const source = peerSource(url)
  return {
    isValidRootForHeight: async (root, height) => {
      const [header] = readHeaders(await source.headers(height, 1))
      return header !== undefined && formatHash(header.merkleRoot) === root.toLowerCase()
    },
    currentHeight: async () => (await source.tip()).height
  }
}
