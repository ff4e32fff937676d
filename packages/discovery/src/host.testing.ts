/** Hosts that advertise with the wallet and the template of @bsv/sdk, on a development chain. */
import { createHmac } from 'node:crypto'
import { type LockingScript, PrivateKey, ProtoWallet, PushDrop, type WalletInterface } from '@bsv/sdk'
import secp256k1 from 'secp256k1'
import { type Key, keyOf } from '../../chain/src/verify/test-chain.testing.ts'
import type { Protocol } from './advertisement.ts'

const NAMES = { SHIP: 'service host interconnect', SLAP: 'service lookup availability' } as const

interface TokenOptions {
  readonly fields?: readonly Uint8Array[]
  /** The counterparty of the lock. */
  readonly counterparty?: string
  readonly protocolName?: string
}

export class Host {
  readonly #secret: PrivateKey
  readonly identityKey: string
  readonly domain: string

  constructor(seed: string, domain = `https://${seed}.example.com`) {
    this.#secret = PrivateKey.fromHex(Buffer.from(seed.padEnd(32, '.')).toString('hex'))
    this.identityKey = this.#secret.toPublicKey().toString()
    this.domain = domain
  }

  /** The locking script of an advertisement. */
  async token(protocol: Protocol, name: string, options: TokenOptions = {}): Promise<Uint8Array> {
    const fields = options.fields ?? [
      Buffer.from(protocol),
      Buffer.from(this.identityKey, 'hex'),
      Buffer.from(this.domain),
      Buffer.from(name)
    ]
    const wallet = new ProtoWallet(this.#secret) as unknown as WalletInterface
    const script: LockingScript = await new PushDrop(wallet).lock(
      fields.map(field => [...field]),
      [2, options.protocolName ?? NAMES[protocol]],
      '1',
      options.counterparty ?? 'anyone',
      true
    )
    return Uint8Array.from(script.toBinary())
  }

  /** The key that spends an advertisement. */
  keyFor(protocol: Protocol): Key {
    const publicKey = Buffer.from(this.identityKey, 'hex')
    const tweak = createHmac('sha256', publicKey).update(`2-${NAMES[protocol]}-1`).digest()
    return keyOf(secp256k1.privateKeyTweakAdd(Uint8Array.from(this.#secret.toArray('be', 32)), tweak))
  }
}
