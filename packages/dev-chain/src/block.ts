/** Blocks of a development chain: real headers with real proof of work, at a difficulty of two hashes a block. */

import type { Transaction } from '@quoin/chain'
import { Bump, type ChainHeader, formatHash, type Header, workOf, writeHeader } from '@quoin/chain'
import { equalBytes, QuoinError, type Txid } from '@quoin/primitives'

export class Block implements ChainHeader {
  readonly header: Header
  readonly height: number
  readonly work: bigint
  /** The coinbase first; none in the first block of the network, whose coinbase nobody can spend. */
  readonly transactions: readonly Transaction[]
  /** Of all transactions; the proofs are taken from it. */
  readonly #bump: Bump | undefined

  private constructor(
    header: Header,
    parent: ChainHeader | undefined,
    transactions: readonly Transaction[],
    bump: Bump | undefined
  ) {
    this.header = header
    this.height = parent ? parent.height + 1 : 0
    this.work = (parent?.work ?? 0n) + workOf(header.bits)
    this.transactions = transactions
    this.#bump = bump
  }

  static first(header: Header): Block {
    return new Block(header, undefined, [], undefined)
  }

  /** A block that was mined before. Throws unless the header is of these transactions. */
  static of(header: Header, parent: ChainHeader, transactions: readonly Transaction[]): Block {
    const bump = bumpOf(parent, transactions)
    if (equalBytes(bump.root, header.merkleRoot)) return new Block(header, parent, transactions, bump)
    const hash = formatHash(header.hash)
    throw new QuoinError('ERR_HEADER_INVALID', `block ${hash} is not of its transactions`, { hash })
  }

  /** Finds a header for the transactions. */
  static mine(
    parent: ChainHeader,
    transactions: readonly Transaction[],
    { version, time }: { readonly version: number; readonly time: number }
  ): Block {
    const bump = bumpOf(parent, transactions)
    const { hash: previous, bits } = parent.header
    for (let nonce = 0; ; nonce++) {
      const header = writeHeader({ version, previous, merkleRoot: bump.root, time, bits, nonce })
      if (header.hasProofOfWork) return new Block(header, parent, transactions, bump)
    }
  }

  proof(txid: Txid): Bump {
    return this.#bump!.trimmedTo(txid)
  }
}

const bumpOf = ({ height }: ChainHeader, transactions: readonly Transaction[]): Bump =>
  Bump.ofBlock(
    height + 1,
    transactions.map(({ txid }) => txid)
  )
