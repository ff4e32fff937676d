import type { BeefTransaction } from '@quoin/chain'
import type { Engine } from '@quoin/overlay'

/** Saves the proof of an indexed transaction whose recorded position differs from it. */
export const updateProof = async (engine: Engine, { txid, bump }: BeefTransaction): Promise<void> => {
  if (!bump) return
  const record = await engine.outputs.record(txid)
  const index = bump.offsetOf(txid)
  const { position } = record ?? {}
  if (!record || (position?.height === bump.height && position.index === BigInt(index!))) return
  await engine.handleNewMerkleProof(txid, bump)
}
