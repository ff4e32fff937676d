import type { BeefTransaction } from '@quoin/chain'
import type { Engine } from '@quoin/overlay'

/** One that is in the index and comes with another proof than it has there moves to its place. */
export const proveIfKnown = async (engine: Engine, { txid, bump }: BeefTransaction): Promise<void> => {
  if (!bump) return
  const record = await engine.outputs.record(txid)
  const index = bump.offsetOf(txid)
  const { position } = record ?? {}
  if (!record || (position?.height === bump.height && position.index === BigInt(index!))) return
  await engine.handleNewMerkleProof(txid, bump)
}
