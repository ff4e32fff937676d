import { HD, PublicKey } from '@bsv/sdk'
import { sha256 } from '@quoin/chain'
import { formatOutpoint, makeOutpoint, type TokenId, type Txid } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { feeAddresses, pathOf } from './fee-address.ts'

/** The key of the service that the addresses below are of. */
const XPUB =
  'xpub661MyMwAqRbcF221R74MPqdipLsgUevAAX4hZP2rywyEeShpbe3v2r9ciAvSGT6FB22TEmFLdUyeEDJL4ekG8s9H5WXbzDQPr6eW1zEYYy9'

describe('the fee address of a token', () => {
  it.each([
    [
      '37984afc0bdcbb091fc6d742d52bd153693b5deaa073d68b7b50ff4bb0486afe_0',
      '1MYAnam22a2ADyMHQbKPn4yWfNmovfHbfD'
    ],
    [
      '1bff350b55a113f7da23eaba1dc40a7c5b486d3e1017cda79dbe6bd42e001c81_0',
      '15gdXn8UEeQ5JDvDMoKVEWN9PZeE854P89'
    ],
    [
      '85d467824321e7cc29cab7bcb4aa281e90c761eaadcc023257fdd9480fcf779f_0',
      '1HdvFwjcMgRdB8Cwgzcaady1GYd7a9Ffyc'
    ],
    [
      'ae59f3b898ec61acbdb6cc7a245fabeded0c094bf046f35206a3aec60ef88127_0',
      '1QqicJAZm8oS5UreGzWtuZrpWb9RXtDBN'
    ],
    [`${'0'.repeat(63)}1_1`, '143vxL8NQ25VpArNiWJYQd31mFBMzqncai']
  ])('%s is %s, as published', (token, address) => {
    expect(feeAddresses(XPUB)(token as TokenId)).toBe(address)
  })

  it('is at the published path', () => {
    const bamboo = '1bff350b55a113f7da23eaba1dc40a7c5b486d3e1017cda79dbe6bd42e001c81_0' as TokenId
    expect(pathOf(bamboo)).toEqual([68815976, 1588448849])
  })

  it('is what the SDK derives, for any key and token', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 16, maxLength: 64 }),
        fc.nat(),
        fc.nat(9),
        (seed, number, vout) => {
          const root = HD.fromSeed([...seed]).toPublic()
          const txid = sha256(Uint8Array.of(...Buffer.from(`${number}`))) as Txid
          const token = formatOutpoint(makeOutpoint(txid, vout), '_') as TokenId
          const [first, second] = pathOf(token)
          const child = root.derive(`m/21/${first}/${second}`)
          expect(feeAddresses(root.toString())(token)).toBe(
            PublicKey.fromString(child.pubKey.toString()).toAddress()
          )
        }
      ),
      { numRuns: 10 }
    )
  })

  it.each([
    ['nothing', ''],
    ['no base58', XPUB.replace('x', '0')],
    ['a wrong checksum', XPUB.replace('b661', 'b662')],
    ['a private key', HD.fromSeed(new Array(32).fill(7)).toString()],
    ['something long', 'x'.repeat(10_000)]
  ])('cannot be made from %s', (_, xpub) => {
    expect(() => feeAddresses(xpub)).toThrow(expect.objectContaining({ code: 'ERR_CONFIG' }))
  })
})
