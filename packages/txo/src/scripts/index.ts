/** Parsers of output scripts: the data, the owners and the events of an output. */
export { addressAt } from './addresses.ts'
export { type AuthorSignature, decodeAip } from './aip.ts'
export { type BFile, decodeB } from './b.ts'
export { type Bap, type BapType, decodeBap } from './bap.ts'
export { type Bitcom, decodeBitcom, type Segment } from './bitcom.ts'
export {
  type Bsv21,
  type Bsv21Data,
  type Bsv21Operation,
  bsv21Data,
  decodeBsv21,
  isTokenId
} from './bsv21.ts'
export { type Cosign, decodeCosign } from './cosign.ts'
export { decodeInscription, type Inscription, type InscriptionField } from './envelope.ts'
export { scriptEvents } from './events.ts'
export { decodeLock, type Lock } from './lock.ts'
export { decodeOwner } from './locking.ts'
export { decodeLtm, type Ltm } from './ltm.ts'
export { decodeMap, type MapRecord } from './map.ts'
export { decodeOrdLock, type OrdLock } from './ordlock.ts'
export { PARSERS, parseScript } from './parse.ts'
export type { ParseResult, ScriptContext, ScriptParser } from './parser.ts'
export { decodePow20, type Pow20 } from './pow20.ts'
export { decodePushDrop, type PushDrop } from './pushdrop.ts'
export { decodeShrug, type Shrug, type ShrugOperation } from './shrug.ts'
export { decodeSigma, type SigmaSignature } from './sigma.ts'
export { isClaim } from './text.ts'
export { ScriptView } from './view.ts'
