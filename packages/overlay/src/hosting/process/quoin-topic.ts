/** An isolated topic of Quoin's form: it gets the parsed transaction of a BEEF. */
import { Beef } from '@quoin/chain'
import { formatTxid, makeOutpoint, txidOf, voutOf } from '@quoin/primitives'
import type { Candidate, HostedAdmittance, Mode, PreviousCoin, QuoinTopic } from '../../types.ts'

export const admit = async (
  topic: QuoinTopic,
  beef: Uint8Array,
  inputs: readonly number[],
  offChainValues: Uint8Array | undefined,
  mode: Mode
): Promise<HostedAdmittance> => {
  const { outputs, retain, refused } = await topic.admit(candidateOf(beef, inputs, offChainValues, mode))
  return {
    outputsToAdmit: [...outputs],
    coinsToRetain: [...(retain ?? [])],
    ...(refused && { refused })
  }
}

export const needs = async (
  topic: QuoinTopic,
  beef: Uint8Array,
  offChainValues: Uint8Array | undefined
): Promise<{ txid: string; outputIndex: number }[]> => {
  const needed = (await topic.needs?.(candidateOf(beef, [], offChainValues, 'historical-tx'))) ?? []
  return needed.map(outpoint => ({ txid: formatTxid(txidOf(outpoint)), outputIndex: voutOf(outpoint) }))
}

const candidateOf = (
  bytes: Uint8Array,
  inputs: readonly number[],
  offChainValues: Uint8Array | undefined,
  mode: Mode
): Candidate => {
  const beef = Beef.parse(bytes)
  const { transaction } = beef.find(beef.subject)!
  const coinOf = (input: number): PreviousCoin => {
    const { txid, vout } = transaction!.inputs[input]!
    const output = beef.find(txid)?.transaction?.outputs[vout]
    if (!output) throw new Error(`the BEEF lacks the transaction of the previous coin at input ${input}`)
    return { input, outpoint: makeOutpoint(txid, vout), output }
  }
  return { transaction: transaction!, previousCoins: inputs.map(coinOf), offChainValues, mode }
}
