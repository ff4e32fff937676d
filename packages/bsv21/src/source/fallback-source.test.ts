import { Beef, parseTransaction } from '@quoin/chain'
import { parseTxid, QuoinError } from '@quoin/primitives'
import { describe, expect, it } from 'vitest'
import { fallbackSource } from './fallback-source.ts'
import { someTransaction } from './junglebus.testing.ts'
import type { TransactionSource } from './source.ts'

const TXID = parseTxid('ab'.repeat(32))
const having = (name: string, beef: Beef | undefined): TransactionSource => ({
  name,
  transaction: async () => beef
})
const failing: TransactionSource = {
  name: 'failing',
  transaction: async () => {
    throw new QuoinError('ERR_CHAIN_SOURCE', 'down')
  }
}
const beefOf = (number: number): Beef => {
  const transaction = parseTransaction(someTransaction(number))
  return Beef.of([{ txid: transaction.txid, transaction, bump: undefined }])
}
const found = beefOf(1)

describe('several places for transactions', () => {
  it('are asked in order, until one has it', async () => {
    const places = fallbackSource([
      having('a', undefined),
      failing,
      having('b', found),
      having('c', beefOf(2))
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
