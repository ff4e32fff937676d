/**
 * `bap`: identities and attestations about them (Bitcoin Attestation Protocol):
 *
 *     ID     ‹identity key› ‹address›        the identity signs with this address from now on; 0 ends it
 *     ATTEST ‹hash of a URN› ‹sequence›      REVOKE likewise
 *     ALIAS  ‹identity key› ‹JSON›           DATA   ‹hash of a URN› ‹data›
 *
 * A record is valid only with an AIP signature of the identity behind it. The parser names the signers; whether one of
 * them is the identity follows from earlier records.
 */
import { readAip } from './aip.ts'
import { fieldsOf, readBitcom, segmentsOf } from './bitcom.ts'
import { scriptEvents } from './events.ts'
import { NONE, type ScriptParser } from './parser.ts'
import { isClaim, textOf } from './text.ts'
import { type ScriptView, viewOf } from './view.ts'

const TYPES = ['ID', 'ATTEST', 'ALIAS', 'DATA', 'REVOKE'] as const
export type BapType = (typeof TYPES)[number]

export interface Bap {
  readonly type: BapType
  /** The identity key of ID and ALIAS, the hash of the others. */
  readonly key: string
  /** The address of ID, the sequence of ATTEST and REVOKE, the text of ALIAS and DATA. */
  readonly value: string
  /** Addresses with a valid signature over the record. */
  readonly signers: readonly string[]
}

const PROTOCOL = '1BAPSuaPnfGnSBM3GLV9yhxUdYe4vGbdMT'
const MAX_VALUE = 16 * 1024

/** The first record of a script. */
export const decodeBap = (script: Uint8Array | ScriptView): Bap | undefined => {
  const view = viewOf(script)
  const bitcom = view.once(readBitcom)
  for (const [number, segment] of bitcom ? segmentsOf(bitcom, PROTOCOL) : []) {
    const [name, about, rest] = fieldsOf(bitcom!, segment, 3)
    const type = TYPES.find(each => each === textOf(name))
    const key = textOf(about)
    const value = textOf(rest, MAX_VALUE)
    if (!type || !key || value === undefined || !fits(type, value)) continue
    const signatures = view.once(readAip).filter(each => each.valid && each.segment > number)
    return { type, key, value, signers: [...new Set(signatures.map(({ address }) => address))] }
  }
  return undefined
}

const isAboutIdentity = (type: BapType): boolean => type === 'ID' || type === 'ALIAS'

const fits = (type: BapType, value: string): boolean =>
  type === 'ATTEST' || type === 'REVOKE' ? /^(?:0|[1-9][0-9]{0,14})$/.test(value) : true

/** Names of the value in the data. */
const VALUES: Readonly<Record<BapType, string>> = {
  ID: 'address',
  ATTEST: 'sequence',
  ALIAS: 'profile',
  DATA: 'data',
  REVOKE: 'sequence'
}

const { bapType, bapId, bapUrn } = scriptEvents.types

export const bapParser: ScriptParser = {
  tag: 'bap',
  about: 'Identities and attestations.',
  parse(view) {
    const record = decodeBap(view)
    if (!record) return undefined
    const { type, key, value, signers } = record
    const about = isAboutIdentity(type)
    return {
      data: {
        type,
        [about ? 'id' : 'urn']: key,
        [VALUES[type]]: VALUES[type] === 'sequence' ? Number(value) : value,
        signers
      },
      events: [bapType.text(type), ...(isClaim(key) ? [(about ? bapId : bapUrn).text(key)] : [])],
      owners: NONE
    }
  }
}
