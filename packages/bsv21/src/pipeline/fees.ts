import type { Batch } from '@quoin/store'
import type { FeeAddresses } from '../fee-address.ts'
import { bsv21 } from '../keys.ts'
import { type Claims, isDeployment } from '../rules.ts'

const { fees } = bsv21.collections

/** Notes for the tokens that are deployed which address is paid for them, so that a payment finds its token. */
export const noteFeeAddressesIn = (
  batch: Batch,
  claims: Claims,
  feeAddresses: FeeAddresses | undefined
): void => {
  if (!feeAddresses) return
  for (const claim of claims.values()) {
    if (isDeployment(claim)) batch.use(fees).at(feeAddresses(claim.id)).set(claim.id)
  }
}
