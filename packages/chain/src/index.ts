/** Transactions, merkle proofs and block headers: parsed, written, verified and stored. */
export {
  formatAddress,
  fromBase58,
  isP2pkh,
  type Network,
  p2pkh,
  p2pkhHash,
  parseAddress,
  startsP2pkh,
  toBase58
} from './address.ts'
export { parentsAmong, parentsFirst, sortParentsFirst } from './ancestry.ts'
export {
  BEEF_LIMITS,
  Beef,
  type BeefLimits,
  type BeefParts,
  type BeefTransaction,
  writeBeef
} from './beef.ts'
export { beefOfRecord, type FileRecord, fileSize, headOf, recordsOf } from './beef-file.ts'
export { beefOf, isBeef, parseBeefText } from './beef-text.ts'
export {
  type CheckedTransaction,
  checkedTransaction,
  checkedTransactions,
  storedRoots
} from './checked-transactions.ts'
export { isExtended, parseExtended, writeExtended } from './extended-format.ts'
export type { Finding, FindingKind } from './finding.ts'
export { hash160, ripemd160, sha256, sha256d } from './hash.ts'
export { Branch } from './headers/branch.ts'
export {
  type ChainHeader,
  formatHash,
  HEADER_LENGTH,
  Header,
  type HeaderJson,
  type HeaderParts,
  headerJson,
  parseHash,
  parseHeader,
  readHeaders,
  writeHeader
} from './headers/header.ts'
export { MAX_SIDE_DEPTH, type Reorg } from './headers/header-addition.ts'
export { headerFileRoots } from './headers/header-file.ts'
export { blockHeadersServiceSource, chaintracksSource, peerSource } from './headers/header-services.ts'
export {
  type Checkpoint,
  type HeaderChange,
  HeaderStore,
  type HeaderStoreOptions
} from './headers/header-store.ts'
export { HttpService, type HttpServiceOptions, type ServiceResponse } from './headers/http-service.ts'
export {
  type HeaderImport,
  type ImportOptions,
  type ImportProgress,
  importHeaders,
  importHeaderText
} from './headers/import.ts'
export { NETWORKS, type NetworkName, type NetworkRules } from './headers/networks.ts'
export { checkHeader } from './headers/rules.ts'
export {
  type HeaderSource,
  type ProofAnswer,
  type ProofSource,
  proofService,
  type RootSource,
  type SourceOptions,
  type SourceTip,
  sdkTracker
} from './headers/sources.ts'
export { type HeaderSyncResult, type SyncOptions, type SyncProgress, syncHeaders } from './headers/sync.ts'
export { bitsOf, targetOf, workOf } from './headers/target.ts'
export { chain, type StoredTransaction } from './keys.ts'
export { Bump } from './merkle/bump.ts'
export {
  type Input,
  MAX_SATOSHIS,
  type Output,
  parseTransaction,
  readTransaction,
  Transaction,
  type TransactionParts,
  writeTransaction
} from './transaction.ts'
export { type BeefOptions, TransactionStore } from './transactions.ts'
export { TxidIndex } from './txid-index.ts'
export { deriveAnyoneKey } from './verify/anyone-key.ts'
export { Interpreter, type InterpreterOptions, sharedInterpreter } from './verify/interpreter.ts'
export type { PoolState } from './verify/process-pool.ts'
export { checkForm, invalid } from './verify/rules.ts'
export {
  isPublicKeyForm,
  readSignature,
  type Signature,
  type SignatureBackend,
  signatureBackend,
  verifySignature
} from './verify/secp256k1.ts'
export { SIGHASH, Sighash } from './verify/sighash.ts'
export { type Lock, readLock } from './verify/templates.ts'
export type { KnownLookup, KnownTransaction, Proof } from './verify/unverified-ancestry.ts'
export {
  type RootTracker,
  VERIFY_LIMITS,
  type VerifiedTransactions,
  type VerifyLimits,
  type VerifyOptions,
  verifyBeef,
  verifyTransaction
} from './verify/verify.ts'
