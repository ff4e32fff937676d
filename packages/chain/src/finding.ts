/** A contradiction in a store, as `quoin verify` reports it and `quoin repair` mends it. */

export type FindingKind =
  /** A row whose checksum does not fit. */
  | 'row-damaged'
  /** A raw transaction that is none, or not the one of its key. */
  | 'transaction-damaged'
  /** A proof that is no BUMP. */
  | 'proof-damaged'
  /** A proof of other transactions, or of one that is not stored. */
  | 'proof-foreign'
  /** A proof whose root is not that of the header at its height. */
  | 'proof-root'
  /** A transaction of a topic whose BEEF cannot be assembled: an ancestor is missing. */
  | 'beef-incomplete'
  /** A spend by a transaction that is not indexed. */
  | 'spend-unknown-spender'
  /** A spend by a transaction that does not have the input. */
  | 'spend-no-input'
  /** An input of an indexed transaction that spends a known output, and is not recorded. */
  | 'spend-missing'
  /** An admission that does not decode. */
  | 'admission-damaged'
  /** An admission of a transaction that is not indexed. */
  | 'admission-orphan'
  /** An admission by a topic that the transaction was not applied to. */
  | 'admission-topic'
  /** An output that an admission admits and that is not in the topic, without a reason. */
  | 'admission-output'
  /** An output that is in a topic and that the topic's admission does not admit. */
  | 'admission-unadmitted'
  /** A transaction that was applied to topics, without an admission. */
  | 'admission-missing'
  /** A row of the index that follows from nothing. */
  | 'index-unexpected'
  /** A row of the index that is not there. */
  | 'index-missing'
  /** A row of the index with another value. */
  | 'index-different'

export interface Finding {
  readonly kind: FindingKind
  /** The txid, the outpoint, or the key with its collection. */
  readonly subject: string
  readonly found: string
  readonly expected: string
  /** How the finding can be removed where `quoin repair` cannot. */
  readonly advice?: string
}
