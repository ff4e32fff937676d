/**
 * Assembles token proofs (BRC-176): the transactions of outputs and, recursively, of the outputs of the token that they
 * spend, back to the deployment. All come with their bodies; unmined ones with their ancestry back to proofs.
 */
import { writeBeef } from '@quoin/chain'
import { consumedInputs } from '@quoin/overlay'
import {
  bytesKey,
  formatOutpoint,
  type Outpoint,
  QuoinError,
  type TokenId,
  type Txid,
  txidOf
} from '@quoin/primitives'
import type { OutputStore } from '@quoin/txo'
import { topicOf } from '../topic-names.ts'
import { writeOutpointPacket } from './packet.ts'

/** Transactions of the longest history that is proved. */
const MAX_LINEAGE = 10_000

/** A packet about one output. Throws `ERR_NOT_FOUND` unless the topic of the token has it. */
export const tokenProof = async (
  outputs: OutputStore,
  token: TokenId,
  outpoint: Outpoint
): Promise<Uint8Array> => writeOutpointPacket(outpoint, await tokenProofBeef(outputs, token, [outpoint]))

/** A bare BEEF that proves several outputs of a token: its verifier has to name the outputs. */
export const tokenProofBeef = async (
  outputs: OutputStore,
  token: TokenId,
  outpoints: readonly Outpoint[]
): Promise<Uint8Array> => {
  const lineage = await lineageOf(outputs, token, outpoints)
  return writeBeef({ version: 1, transactions: await outputs.transactions.ancestry(lineage) })
}

const lineageOf = async (
  outputs: OutputStore,
  token: TokenId,
  outpoints: readonly Outpoint[]
): Promise<Txid[]> => {
  const topic = topicOf(token)
  for (const outpoint of outpoints) {
    if (await outputs.isInTopic(topic, outpoint)) continue
    throw new QuoinError(
      'ERR_NOT_FOUND',
      `${formatOutpoint(outpoint)} is not a valid output of token ${token}`,
      { token }
    )
  }
  const lineage = new Map<string, Txid>()
  for (let level = outpoints; level.length > 0; ) {
    const unvisited = level.filter(outpoint => !lineage.has(bytesKey(txidOf(outpoint))))
    for (const outpoint of unvisited) lineage.set(bytesKey(txidOf(outpoint)), txidOf(outpoint))
    if (lineage.size > MAX_LINEAGE) {
      throw new QuoinError(
        'ERR_BEEF_LIMIT',
        `a proof of these outputs has more than ${MAX_LINEAGE} transactions: ask for fewer outputs, or verify with a node`,
        { token, most: MAX_LINEAGE }
      )
    }
    level = await consumedInputs(outputs, unvisited, topic)
  }
  return [...lineage.values()]
}
