import type { Batch } from '@quoin/store'
import type { FeeAddresses } from '../fee-address.ts'
import { bsv21 } from '../keys.ts'
import { isDeployment, type TokenOutputs } from '../rules.ts'

const { fees } = bsv21.collections

/** Saves the fee addresses of deployed tokens, so that a payment finds its token. */
export const saveFeeAddressesIn = (
  batch: Batch,
  outputs: TokenOutputs,
  feeAddresses: FeeAddresses | undefined
): void => {
  if (!feeAddresses) return
  for (const output of outputs.values()) {
    if (isDeployment(output)) batch.use(fees).at(feeAddresses(output.id)).set(output.id)
  }
}
