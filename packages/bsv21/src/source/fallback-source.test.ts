import { parseTxid, QuoinError } from '@quoin/primitives'
import { describe, expect, it } from 'vitest'
import { fallbackSource } from './fallback-source.ts'
import type { TransactionSource } from './source.ts'

const TXID = parseTxid('ab'.repeat(32))
const having = (name: string, bytes: Uint8Array | undefined): TransactionSource => ({
  name,
  transaction: async () => bytes
})
const failing: TransactionSource = {
  name: 'failing',
  transaction: async () => {
    throw new QuoinError('ERR_CHAIN_SOURCE', 'down')
  }
}
const found = Uint8Array.of(1)

describe('several places for transactions', () => {
  it('are asked in order, until one has it', async () => {
    const places = fallbackSource([
      having('a', undefined),
      failing,
      having('b', found),
      having('c', Uint8Array.of(2))
    ])!
    expect(places.name).toBe('a, failing, b, c')
    expect(await places.transaction(TXID)).toBe(found)
  })

  it('do not have it when none does, unless one could not say', async () => {
    expect(
      await fallbackSource([having('a', undefined), having('b', undefined)])!.transaction(TXID)
    ).toBeUndefined()
    await expect(fallbackSource([failing, having('b', undefined)])!.transaction(TXID)).rejects.toMatchObject({
      code: 'ERR_CHAIN_SOURCE'
    })
  })

  it('are itself when it is one, and nothing when it is none', () => {
    const one = having('a', found)
    expect([fallbackSource([one]), fallbackSource([])]).toEqual([one, undefined])
  })
})
