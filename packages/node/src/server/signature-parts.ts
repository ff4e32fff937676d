/** Signature verification without the binary of libsecp256k1: the node verifies in JavaScript, and says so. */
import { type SignatureBackend, signatureBackend } from '@quoin/chain'
import type { Logger } from '@quoin/overlay'
import type { Part } from './parts.ts'

const SLOW =
  'signatures are verified in JavaScript, forty times slower, because the binary of the package secp256k1 does not load; ' +
  'run npm rebuild secp256k1 with a C compiler installed'

/** A degraded part without the binary, which is logged; none with it. */
export const signatureParts = (logger: Logger, backend: SignatureBackend = signatureBackend()): Part[] => {
  if (backend === 'native') return []
  logger.warn('signatures', { backend, message: SLOW })
  return [{ name: 'signatures', state: async () => ({ status: 'degraded', message: SLOW }) }]
}
