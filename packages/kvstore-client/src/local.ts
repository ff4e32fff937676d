/**
 * The local store (BRC-35 §4): values that a wallet keeps for its owner, each in an output of its own. The context is the
 * basket and the key is the tag. The store uses the wallet methods of §4.2 (`createAction`, `signAction`, `listOutputs`,
 * `encrypt`, `decrypt`, `relinquishOutput`), and `getPublicKey` and `createSignature` for the PushDrop.
 *
 * Wallets normalise the case and the outer spaces of tags, and may list outputs of another key under the tag of this one.
 * The key of an output is therefore decided by its lock (§4.4), which is derived from the key unchanged.
 *
 * @example
 * const notes = new LocalKV({ wallet, context: 'my notes' })
 * await notes.set('welcome', 'Hello')
 * await notes.get('welcome') // 'Hello'
 */
import { type BEEF, Beef, Utils, type WalletInterface } from '@bsv/sdk'
import { QuoinError } from '@quoin/primitives'
import { type Coin, lock, lockKeyOf, runAction, type Scope } from './action.ts'
import { Bundle } from './bundle.ts'
import { entryMutex } from './entry-mutex.ts'
import { readLocalToken, valueField } from './local-token.ts'
import { bytesOf, check, isText, textOf } from './text.ts'
import { isProtocolID } from './tuple.ts'

export type LocalWallet = Pick<
  WalletInterface,
  | 'createAction'
  | 'signAction'
  | 'listOutputs'
  | 'encrypt'
  | 'decrypt'
  | 'relinquishOutput'
  | 'getPublicKey'
  | 'createSignature'
>

export interface LocalKVOptions {
  readonly wallet: LocalWallet
  /** Basket and name of the derivation protocol; default `kvstore default`. */
  readonly context?: string
  /** Stores values unencrypted; default false. */
  readonly plaintext?: boolean
  /** Passed to the wallet with every call. */
  readonly originator?: string
}

/** An output that a wallet lists for a key. */
export interface LocalOutput {
  readonly outpoint: string
  /**
   * - `live`: a token of the key, with its value.
   * - `corrupt`: a token of the key without a value. `set` and `remove` spend it.
   * - `stuck`: not a token, so that the key that spends it is unknown. `recover` relinquishes it.
   * - `foreign`: a token of another key whose tag the wallet normalises to the same text. It is left alone.
   */
  readonly state: 'live' | 'corrupt' | 'stuck' | 'foreign'
  readonly value?: string
  /** Reason why there is no value. */
  readonly reason?: string
}

interface CoinList {
  readonly coins: readonly Coin[]
  /** Ancestry of the coins, with `include: 'entire transactions'`. */
  readonly beef: number[] | undefined
}

const MAX_TAG_BYTES = 300
const MAX_KEY_ID = 800
/** The largest page of `listOutputs`. */
const PAGE = 10_000

export class LocalKV {
  readonly context: string
  readonly #wallet: LocalWallet
  readonly #plaintext: boolean
  readonly #originator: string | undefined

  constructor({ wallet, context = 'kvstore default', plaintext = false, originator }: LocalKVOptions) {
    check(
      isProtocolID([2, context]) && context.length <= MAX_TAG_BYTES,
      'context',
      'context must have 5 to 300 characters of a-z, 0-9 and single spaces, and must not end in " protocol"'
    )
    this.context = context
    this.#wallet = wallet
    this.#plaintext = plaintext
    this.#originator = originator
  }

  /**
   * The newest value (§4.6). Without tokens, the default value, which is undefined unless given; throws `ERR_KV_CORRUPT`
   * when there are tokens but no value.
   */
  async get(key: string): Promise<string | undefined>
  async get(key: string, defaultValue: string): Promise<string>
  async get(key: string, defaultValue?: string): Promise<string | undefined> {
    const outputs = await this.inspect(key)
    const newest = outputs.findLast(({ state }) => state === 'live')
    if (newest) return newest.value
    const bad = outputs.filter(({ state }) => state !== 'foreign')
    if (bad.length === 0) return defaultValue
    throw corruptionError(bad, 'the outputs of this key have no readable value; set overwrites it')
  }

  /** Spends all tokens of the key and creates one (§4.6). Returns its outpoint. */
  async set(key: string, value: string): Promise<string> {
    const scope = this.#scope(key)
    this.#checkValue(value)
    return this.#exclusive(scope, async lockKey => {
      const field = this.#plaintext ? bytesOf(value) : await this.#encrypt(scope, value)
      const script = await lock(this.#wallet, scope, [field], this.#originator)
      const { coins, beef } = await this.#spendable(key, lockKey)
      const { txid, vout } = await runAction(
        this.#wallet,
        {
          description: 'Set a value',
          scope,
          spends: coins,
          beef,
          output: { script, basket: this.context, tags: [key] }
        },
        this.#originator
      )
      return `${txid}.${vout}`
    })
  }

  /** Spends tokens of the key until there are none (§4.6). Returns the txids. */
  async remove(key: string): Promise<string[]> {
    const scope = this.#scope(key)
    return this.#exclusive(scope, async lockKey => {
      const txids: string[] = []
      const spent = new Set<string>()
      for (;;) {
        const { coins, beef, stuck } = await this.#spendable(key, lockKey)
        if (coins.length > 0) {
          for (const { outpoint } of coins) {
            if (spent.has(outpoint)) {
              throw new QuoinError('ERR_KV_WALLET', 'the wallet lists an output that it has spent', {
                outpoint
              })
            }
            spent.add(outpoint)
          }
          const action = { description: 'Remove a value', scope, spends: coins, beef }
          txids.push((await runAction(this.#wallet, action, this.#originator)).txid)
          continue
        }
        if (stuck.length === 0) return txids
        throw corruptionError(
          stuck,
          'outputs of this key cannot be spent, because they are not tokens; recover relinquishes them'
        )
      }
    })
  }

  /**
   * The outputs that the wallet lists for the key, newest last. Reads and writes exclude each other: during an update,
   * wallets list neither the spent token nor the new one.
   */
  async inspect(key: string): Promise<LocalOutput[]> {
    const scope = this.#scope(key)
    return this.#exclusive(scope, lockKey => this.#inspect(scope, lockKey))
  }

  /**
   * Relinquishes outputs of the key without spending them (§4.7): the named ones, or all that have no value. Returns the
   * relinquished outpoints.
   */
  async recover(key: string, outpoints?: readonly string[]): Promise<string[]> {
    const scope = this.#scope(key)
    return this.#exclusive(scope, async lockKey => {
      const listed = await this.#inspect(scope, lockKey)
      const bad = listed
        .filter(({ outpoint, state }) =>
          outpoints ? outpoints.includes(outpoint) : state === 'corrupt' || state === 'stuck'
        )
        .map(({ outpoint }) => outpoint)
      for (const output of bad) {
        await this.#wallet.relinquishOutput({ basket: this.context, output }, this.#originator)
      }
      return bad
    })
  }

  #scope(key: string): Scope {
    check(
      isText(key) &&
        key.trim() !== '' &&
        key.length <= MAX_KEY_ID &&
        bytesOf(key.trim().toLowerCase()).length <= MAX_TAG_BYTES,
      'key',
      `key must be a string of at most ${MAX_TAG_BYTES} bytes that is not blank`
    )
    return { protocolID: [2, this.context], keyID: key, counterparty: 'self' }
  }

  /** Refuses values that do not round-trip, here or through @bsv/sdk. */
  #checkValue(value: string): void {
    check(isText(value), 'value', 'value must be a string')
    check(
      value !== '',
      'value',
      'value must not be empty: wallets cannot decrypt it, and OP_0 also encodes a zero byte'
    )
    check(
      !value.startsWith('\ufeff'),
      'value',
      'value must not begin with a byte order mark, which @bsv/sdk drops'
    )
    check(
      !this.#plaintext || value !== '\x10',
      'value',
      'value must not be the single byte 16, which @bsv/sdk reads as empty'
    )
  }

  /** Runs work under the mutex of an entry, named by its lock key, which is derived from wallet, context and key. */
  async #exclusive<T>(scope: Scope, work: (lockKey: string) => Promise<T>): Promise<T> {
    const lockKey = await lockKeyOf(this.#wallet, scope, this.#originator)
    return entryMutex.run(`local ${lockKey}`, () => work(lockKey))
  }

  async #inspect(scope: Scope, lockKey: string): Promise<LocalOutput[]> {
    const outputs: LocalOutput[] = []
    const { coins } = await this.#list(scope.keyID, 'locking scripts')
    for (const { outpoint, script } of coins) {
      outputs.push({ outpoint, ...(await this.#read(scope, lockKey, script)) })
    }
    return outputs
  }

  /** The tokens that a write spends, with their ancestry; and the outputs that are not tokens. */
  async #spendable(key: string, lockKey: string): Promise<CoinList & { readonly stuck: readonly Coin[] }> {
    const { coins, beef } = await this.#list(key, 'entire transactions')
    const lockOf = ({ script }: Coin): string | undefined => readLocalToken(script)?.lockKey
    return {
      coins: coins.filter(each => lockOf(each) === lockKey),
      beef,
      stuck: coins.filter(each => lockOf(each) === undefined)
    }
  }

  /** All pages, in the order of the wallet, which is the order of creation. */
  async #list(key: string, include: 'locking scripts' | 'entire transactions'): Promise<CoinList> {
    const coins: Coin[] = []
    const beefs: BEEF[] = []
    for (let offset = 0; ; ) {
      const { outputs, totalOutputs, BEEF } = await this.#wallet.listOutputs(
        { basket: this.context, tags: [key], tagQueryMode: 'all', include, limit: PAGE, offset },
        this.#originator
      )
      const bundle = BEEF && new Bundle(Uint8Array.from(BEEF))
      for (const { outpoint, satoshis, lockingScript, spendable } of outputs) {
        if (!spendable) continue
        const script = lockingScript
          ? Uint8Array.from(Utils.toArray(lockingScript, 'hex'))
          : scriptIn(bundle, outpoint)
        coins.push({ outpoint, satoshis, script })
      }
      if (BEEF) beefs.push(BEEF)
      offset += outputs.length
      if (outputs.length === 0 || offset >= totalOutputs) break
    }
    return { coins, beef: mergeBeefs(beefs) }
  }

  async #read(scope: Scope, lockKey: string, script: Uint8Array): Promise<Omit<LocalOutput, 'outpoint'>> {
    const token = readLocalToken(script)
    if (!token) return { state: 'stuck', reason: 'not a PushDrop with its lock before the fields' }
    if (token.lockKey !== lockKey) return { state: 'foreign', reason: 'locked with the key of another entry' }
    const field = valueField(token)
    if (!field) return { state: 'corrupt', reason: `${token.fields.length} fields, expected 1 or 2` }
    let bytes = field
    if (!this.#plaintext) {
      try {
        bytes = await this.#decrypt(scope, field)
      } catch (error) {
        return { state: 'corrupt', reason: `decryption failed: ${(error as Error).message}` }
      }
    }
    const value = textOf(bytes)
    return value === undefined
      ? { state: 'corrupt', reason: 'the value is not UTF-8' }
      : { state: 'live', value }
  }

  async #encrypt({ protocolID, keyID }: Scope, value: string): Promise<Uint8Array> {
    const plaintext = Array.from(bytesOf(value))
    const { ciphertext } = await this.#wallet.encrypt({ protocolID, keyID, plaintext }, this.#originator)
    return Uint8Array.from(ciphertext)
  }

  async #decrypt({ protocolID, keyID }: Scope, field: Uint8Array): Promise<Uint8Array> {
    const { plaintext } = await this.#wallet.decrypt(
      { protocolID, keyID, ciphertext: Array.from(field) },
      this.#originator
    )
    return Uint8Array.from(plaintext)
  }
}

const scriptIn = (bundle: Bundle | undefined, outpoint: string): Uint8Array => {
  const [txid = '', vout] = outpoint.split('.')
  const script = bundle?.transaction(txid)?.outputs[Number(vout)]?.lockingScript
  if (!script) {
    throw new QuoinError('ERR_KV_WALLET', 'the wallet lists an output without its transaction', { outpoint })
  }
  return Uint8Array.from(script.toBinary())
}

const mergeBeefs = ([first, ...rest]: readonly BEEF[]): number[] | undefined => {
  if (!first || rest.length === 0) return first && Array.from(first)
  const beef = Beef.fromBinary(first)
  for (const each of rest) beef.mergeBeef(each)
  return beef.toBinary()
}

const corruptionError = (outputs: readonly { outpoint: string }[], message: string): QuoinError =>
  new QuoinError('ERR_KV_CORRUPT', message, { outpoints: outputs.map(({ outpoint }) => outpoint) })
