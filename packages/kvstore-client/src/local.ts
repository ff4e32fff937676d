/**
 * The local store (BRC-35 §4): values that a wallet keeps for its owner, each in an output of its own. The context is the
 * basket, the key is the tag, and nothing is asked of a wallet but what every wallet can do (§4.2): `createAction`,
 * `signAction`, `listOutputs`, `encrypt`, `decrypt`, `relinquishOutput`, and for the PushDrop itself `getPublicKey` and
 * `createSignature`.
 *
 * Wallets take tags without regard to case and to spaces around them, and so may list outputs of another key under the
 * tag of this one. What an output belongs to is decided by its lock (§4.4), which is derived from the key as it is.
 *
 * @example
 * const notes = new LocalKV({ wallet, context: 'my notes' })
 * await notes.set('welcome', 'Hello')
 * await notes.get('welcome') // 'Hello'
 */
import { type BEEF, Beef, Utils, type WalletInterface } from '@bsv/sdk'
import { QuoinError } from '@quoin/primitives'
import { act, type Coin, lock, lockKeyOf, type Scope } from './action.ts'
import { Bundle } from './bundle.ts'
import { readLocalToken, valueField } from './local-token.ts'
import { bytesOf, check, isText, textOf } from './text.ts'
import { isProtocolID } from './token.ts'
import { inTurn } from './turns.ts'

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
  /** The basket, and the name of the protocol that keys are derived from; `kvstore default` unless given. */
  readonly context?: string
  /** Values are stored as they are; encrypted unless given. */
  readonly plaintext?: boolean
  /** Told to the wallet with every call. */
  readonly originator?: string
}

/** An output that a wallet has for a key. */
export interface LocalOutput {
  readonly outpoint: string
  /**
   * - `live`: a token of the key, with its value.
   * - `corrupt`: a token of the key without a value. `set` and `remove` spend it.
   * - `stuck`: no token at all. Nobody knows how to spend it; `recover` lets go of it.
   * - `foreign`: a token of another key, which the wallet takes for the same tag. It is left alone.
   */
  readonly state: 'live' | 'corrupt' | 'stuck' | 'foreign'
  readonly value?: string
  /** Why there is none. */
  readonly reason?: string
}

interface Listed {
  readonly coins: readonly Coin[]
  /** Their ancestry, where it was asked for. */
  readonly beef: number[] | undefined
}

const MAX_TAG_BYTES = 300
const MAX_KEY_ID = 800
/** As many as wallets list at once. */
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
      'a context is a name as wallets take it: 5 to 300 of a-z, 0-9 and single spaces, not ending in " protocol"'
    )
    this.context = context
    this.#wallet = wallet
    this.#plaintext = plaintext
    this.#originator = originator
  }

  /** The newest value (§4.6). Undefined when there is none; an error when there are tokens, and none has a value. */
  async get(key: string): Promise<string | undefined> {
    const outputs = await this.inspect(key)
    const newest = outputs.findLast(({ state }) => state === 'live')
    if (newest) return newest.value
    const bad = outputs.filter(({ state }) => state !== 'foreign')
    if (bad.length === 0) return undefined
    throw corrupt(bad, 'the wallet has no value for this key, only what is none; set overwrites it')
  }

  /** Spends all tokens of the key and makes one (§4.6). Answers its outpoint. */
  async set(key: string, value: string): Promise<string> {
    const scope = this.#scope(key)
    this.#checkValue(value)
    return this.#inTurn(scope, async lockKey => {
      const field = this.#plaintext ? bytesOf(value) : await this.#encrypt(scope, value)
      const script = await lock(this.#wallet, scope, [field], this.#originator)
      const { coins, beef } = await this.#spendable(key, lockKey)
      const { txid, vout } = await act(
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

  /** Spends tokens of the key until there are none (§4.6). Answers the txids. */
  async remove(key: string): Promise<string[]> {
    const scope = this.#scope(key)
    return this.#inTurn(scope, async lockKey => {
      const txids: string[] = []
      const spent = new Set<string>()
      for (;;) {
        const { coins, beef, stuck } = await this.#spendable(key, lockKey)
        if (coins.length > 0) {
          for (const { outpoint } of coins) {
            if (spent.has(outpoint)) {
              throw new QuoinError('ERR_KV_WALLET', 'the wallet lists what it has spent', { outpoint })
            }
            spent.add(outpoint)
          }
          const action = { description: 'Remove a value', scope, spends: coins, beef }
          txids.push((await act(this.#wallet, action, this.#originator)).txid)
          continue
        }
        if (stuck.length === 0) return txids
        throw corrupt(
          stuck,
          'the wallet has outputs for this key that cannot be spent; recover lets go of them'
        )
      }
    })
  }

  /**
   * What the wallet has for the key, the newest last. Reads take turns with writes: of a token that is being spent and of
   * one that is being made, wallets list neither.
   */
  async inspect(key: string): Promise<LocalOutput[]> {
    const scope = this.#scope(key)
    return this.#inTurn(scope, lockKey => this.#inspect(scope, lockKey))
  }

  /**
   * Has the wallet let go of outputs without spending them (§4.7): of these, or of all for the key that have no value.
   * Answers which.
   */
  async recover(key: string, outpoints?: readonly string[]): Promise<string[]> {
    const scope = this.#scope(key)
    return this.#inTurn(scope, async lockKey => {
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
      `a key is a text that is not blank, of at most ${MAX_TAG_BYTES} bytes`
    )
    return { protocolID: [2, this.context], keyID: key, counterparty: 'self' }
  }

  /** Refused is what would not come back, neither here nor through @bsv/sdk. */
  #checkValue(value: string): void {
    check(isText(value), 'value', 'a value is a text')
    check(
      value !== '',
      'value',
      'a value is not empty: wallets cannot decrypt what is, nor a script tell it from a zero'
    )
    check(!value.startsWith('\ufeff'), 'value', 'a value begins with no byte order mark: @bsv/sdk drops it')
    check(
      !this.#plaintext || value !== '\x10',
      'value',
      'a value is not the byte 16 alone: @bsv/sdk reads it as none'
    )
  }

  /** The lock is a key of the wallet for this context and key, and so tells them from all others. */
  async #inTurn<T>(scope: Scope, work: (lockKey: string) => Promise<T>): Promise<T> {
    const lockKey = await lockKeyOf(this.#wallet, scope, this.#originator)
    return inTurn(`local ${lockKey}`, () => work(lockKey))
  }

  async #inspect(scope: Scope, lockKey: string): Promise<LocalOutput[]> {
    const outputs: LocalOutput[] = []
    const { coins } = await this.#list(scope.keyID, 'locking scripts')
    for (const { outpoint, script } of coins) {
      outputs.push({ outpoint, ...(await this.#read(scope, lockKey, script)) })
    }
    return outputs
  }

  /** What is spent by whoever writes, with its ancestry; and what is in the way. */
  async #spendable(key: string, lockKey: string): Promise<Listed & { readonly stuck: readonly Coin[] }> {
    const { coins, beef } = await this.#list(key, 'entire transactions')
    const lockOf = ({ script }: Coin): string | undefined => readLocalToken(script)?.lockKey
    return {
      coins: coins.filter(each => lockOf(each) === lockKey),
      beef,
      stuck: coins.filter(each => lockOf(each) === undefined)
    }
  }

  /** All of them, in the order of the wallet, which is the order they were made in. */
  async #list(key: string, include: 'locking scripts' | 'entire transactions'): Promise<Listed> {
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
    return { coins, beef: merged(beefs) }
  }

  async #read(scope: Scope, lockKey: string, script: Uint8Array): Promise<Omit<LocalOutput, 'outpoint'>> {
    const token = readLocalToken(script)
    if (!token) return { state: 'stuck', reason: 'it is no PushDrop with its lock before the fields' }
    if (token.lockKey !== lockKey)
      return { state: 'foreign', reason: 'it is locked with the key of another entry' }
    const field = valueField(token)
    if (!field) return { state: 'corrupt', reason: `it has ${token.fields.length} fields, not 1 or 2` }
    let bytes = field
    if (!this.#plaintext) {
      try {
        bytes = await this.#decrypt(scope, field)
      } catch (error) {
        return { state: 'corrupt', reason: `it cannot be decrypted: ${(error as Error).message}` }
      }
    }
    const value = textOf(bytes)
    return value === undefined ? { state: 'corrupt', reason: 'it is not UTF-8' } : { state: 'live', value }
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

const merged = ([first, ...rest]: readonly BEEF[]): number[] | undefined => {
  if (!first || rest.length === 0) return first && Array.from(first)
  const beef = Beef.fromBinary(first)
  for (const each of rest) beef.mergeBeef(each)
  return beef.toBinary()
}

const corrupt = (outputs: readonly { outpoint: string }[], message: string): QuoinError =>
  new QuoinError('ERR_KV_CORRUPT', message, { outpoints: outputs.map(({ outpoint }) => outpoint) })
