/** A contradiction in a store, as `quoin verify` reports it and `quoin repair` mends it. */

export type FindingKind =
  /** A row whose checksum does not match. */
  | 'row-damaged'
  /** A raw transaction that does not parse, or has another txid than its key. */
  | 'transaction-damaged'
  /** A proof that does not parse as a BUMP. */
  | 'proof-damaged'
  /** A proof that does not contain its transaction, or whose transaction is not stored. */
  | 'proof-foreign'
  /** A proof whose merkle root differs from the header at its height. */
  | 'proof-root'
  /** A transaction of a topic whose BEEF cannot be assembled: an ancestor is missing. */
  | 'beef-incomplete'
  /** A spend by a transaction that is not indexed. */
  | 'spend-unknown-spender'
  /** A spend by a transaction that does not have the input. */
  | 'spend-no-input'
  /** An input of an indexed transaction whose spend of a known output is not recorded. */
  | 'spend-missing'
  /** An admission that does not decode. */
  | 'admission-damaged'
  /** An admission of a transaction that is not indexed. */
  | 'admission-orphan'
  /** An admission by a topic that the transaction was not applied to. */
  | 'admission-topic'
  /** An admitted output that is missing from its topic without a reason. */
  | 'admission-output'
  /** An output in a topic that the topic's admission does not name. */
  | 'admission-unadmitted'
  /** A transaction applied to topics without an admission. */
  | 'admission-missing'
  /** An index row that no transaction explains. */
  | 'index-unexpected'
  /** An index row that is missing. */
  | 'index-missing'
  /** An index row with a wrong value. */
  | 'index-different'
  /** A token whose deployment one of two nodes does not know. */
  | 'token-unknown'
  /** An output of a token that one of two nodes does not have, or whose spenders differ. */
  | 'token-output'
  /** A token with equal outputs on two nodes, and other sums or holders. */
  | 'token-sums'

export interface Finding {
  readonly kind: FindingKind
  /** Txid, outpoint, or key with its collection. */
  readonly subject: string
  readonly found: string
  readonly expected: string
  /** Way to remove the finding where `quoin repair` cannot. */
  readonly advice?: string
}
