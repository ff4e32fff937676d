import { expect, it, vi } from 'vitest'
import { signatureParts } from './signature-parts.ts'

const logger = { info: vi.fn(), warn: vi.fn(), error: vi.fn() }

it('a node with libsecp256k1 has nothing to say about signatures', () => {
  expect(signatureParts(logger)).toEqual([])
  expect(logger.warn).not.toHaveBeenCalled()
})

it('a node without it is degraded, and logs a warning', async () => {
  const message = expect.stringContaining('npm rebuild secp256k1')
  const [part] = signatureParts(logger, 'javascript')
  expect(await part!.state()).toEqual({ status: 'degraded', message })
  expect(logger.warn).toHaveBeenCalledWith('signatures', { backend: 'javascript', message })
})
