/** Two verdicts on the same bytes: ours, and that of `Transaction.fromBEEF(…).verify(…)` in @bsv/sdk. */
import { QuoinError } from '@quoin/primitives'
import { Beef } from '../beef.ts'
import { SandboxedProcess } from './sandboxed-process.ts'
import type { TestChain } from './test-chain.testing.ts'
import { verifyBeef } from './verify.ts'

/** `valid`, or the error. */
export const ours = async (beef: Uint8Array, chain: TestChain): Promise<'valid' | QuoinError> => {
  try {
    await verifyBeef(Beef.parse(beef), { tracker: chain })
    return 'valid'
  } catch (error) {
    if (error instanceof QuoinError) return error
    throw error
  }
}

interface Question {
  readonly beef: Uint8Array
  readonly roots: ReadonlyMap<number, string>
  readonly height: number
}

const sdk = new SandboxedProcess<Question, boolean>(new URL('./sdk-process.testing.mjs', import.meta.url), {
  memoryMb: 256,
  renewAfterMs: 30_000
})

/** `none` when it does not answer within two seconds, or runs out of memory. */
export const theirs = async (
  beef: Uint8Array,
  { roots, height }: TestChain
): Promise<'valid' | 'invalid' | 'none'> => {
  const outcome = await sdk.run({ beef, roots, height }, 2000)
  if ('broken' in outcome) return 'none'
  return outcome.answer ? 'valid' : 'invalid'
}
