/** A development chain as JSON, to be kept between two runs: all in hexadecimal, nothing that follows from the rest. */

import { Branch, checkHeader, NETWORKS, parseHeader, parseTransaction, type Transaction } from '@quoin/chain'
import { equalBytes, fromHex, QuoinError, toHex } from '@quoin/primitives'
import { Block } from './block.ts'

export interface DevChainJson {
  readonly network: 'regtest'
  readonly seed: string
  /** How often the chain was reorganised. */
  readonly reorgs: number
  readonly blocks: readonly { readonly header: string; readonly transactions: readonly string[] }[]
  readonly mempool: readonly string[]
}

export interface Snapshot {
  readonly seed: string
  readonly reorgs: number
  readonly blocks: Block[]
  readonly mempool: readonly Transaction[]
}

export const snapshotOf = ({ seed, reorgs, blocks, mempool }: Snapshot): DevChainJson => ({
  network: 'regtest',
  seed,
  reorgs,
  blocks: blocks.map(({ header, transactions }) => ({
    header: toHex(header.raw),
    transactions: transactions.map(({ raw }) => toHex(raw))
  })),
  mempool: mempool.map(({ raw }) => toHex(raw))
})

/** Checks an untrusted file, scripts excepted: a broken file is refused here and not later. */
export const readSnapshot = (json: DevChainJson): Snapshot => {
  const isOne =
    json?.network === 'regtest' &&
    typeof json.seed === 'string' &&
    Number.isSafeInteger(json.reorgs) &&
    Array.isArray(json.blocks) &&
    Array.isArray(json.mempool)
  if (!isOne) throw new QuoinError('ERR_HEADER_FORMAT', 'invalid snapshot: expected a development chain')
  const rules = NETWORKS.regtest
  const headers = json.blocks.map(({ header }) => parseHeader(fromHex(header)))
  if (!headers[0] || !equalBytes(headers[0].raw, rules.genesis)) {
    throw new QuoinError('ERR_HEADER_INVALID', 'a development chain begins with the first block of regtest')
  }
  const blocks = [Block.first(headers[0])]
  const branch = new Branch(blocks)
  for (const [i, header] of headers.entries()) {
    if (i === 0) continue
    checkHeader(rules, branch, header, Number.POSITIVE_INFINITY)
    branch.push(header)
    const transactions = json.blocks[i]!.transactions.map((raw: string) => parseTransaction(fromHex(raw)))
    blocks.push(Block.of(header, blocks[i - 1]!, transactions))
  }
  return {
    seed: json.seed,
    reorgs: json.reorgs,
    blocks,
    mempool: json.mempool.map(raw => parseTransaction(fromHex(raw)))
  }
}
