/**
 * The activation of tokens (D11): a token is active if it is not blacklisted, and is whitelisted or paid for, or if all are
 * indexed. A token is paid for while the balance of its fee address exceeds the cost of its admitted outputs. Activation is
 * read from the store on demand, so an unused token costs nothing.
 */

import { QuoinError, type TokenId } from '@quoin/primitives'
import { type OutputStore, outputEvents, outputs as outputKeys } from '@quoin/txo'
import { type FeeAddresses, feeAddresses } from './fee-address.ts'
import { bsv21 } from './keys.ts'
import { tokenOfTopic, topicOf } from './topic-names.ts'

export interface ActivationOptions {
  /** `all` indexes every token that is not blacklisted, `listed` only whitelisted and paid ones. */
  readonly activation?: 'all' | 'listed' | undefined
  /** The operator's extended public key; without it no token can be paid for. */
  readonly feeXpub?: string | undefined
  /** Satoshis per admitted output, 1,000 unless given. */
  readonly feePerOutput?: number | undefined
}

/** Reasons why a token is active or not. */
export type ActivationReason =
  | 'everything is indexed'
  | 'whitelisted'
  | 'paid for'
  | 'blacklisted'
  | 'not paid for'
  | 'not whitelisted'

export interface TokenStatus {
  readonly isActive: boolean
  readonly reason: ActivationReason
  readonly isWhitelisted: boolean
  readonly isBlacklisted: boolean
  /** Undefined without fee addresses. */
  readonly feeAddress: string | undefined
  readonly feePerOutput: bigint
  /** Balance of the fee address, in satoshis. */
  readonly credits: bigint
  /** Cost of the admitted outputs, in satoshis. */
  readonly debits: bigint
  readonly balance: bigint
  /** Number of admitted outputs. */
  readonly outputs: number
}

export type TokenList = 'whitelist' | 'blacklist'

const { topicOutputs } = outputKeys.collections
const { lists } = bsv21.collections

export class Activation {
  readonly #outputs: OutputStore
  readonly #all: boolean
  readonly #feePerOutput: bigint
  readonly feeAddresses: FeeAddresses | undefined
  readonly #changed: ((token: TokenId) => void)[] = []

  constructor(outputs: OutputStore, options: ActivationOptions = {}) {
    this.#outputs = outputs
    this.#all = options.activation === 'all'
    this.#feePerOutput = BigInt(options.feePerOutput ?? 1000)
    this.feeAddresses = options.feeXpub === undefined ? undefined : feeAddresses(options.feeXpub)
  }

  async status(token: TokenId): Promise<TokenStatus> {
    const { store } = this.#outputs
    const feeAddress = this.feeAddresses?.(token)
    const [isWhitelisted, isBlacklisted, outputs, paid] = await Promise.all([
      store.use(lists).at('whitelist').has(token),
      store.use(lists).at('blacklist').has(token),
      store.use(topicOutputs).at(topicOf(token)).count(),
      feeAddress === undefined ? NOTHING : this.#outputs.searchBalance({ keys: [own.text(feeAddress)] })
    ])
    const credits = paid.satoshis
    const debits = BigInt(outputs) * this.#feePerOutput
    const balance = credits - debits
    const reason = this.#reason(isWhitelisted, isBlacklisted, balance)
    return {
      isActive: ACTIVE.has(reason),
      reason,
      isWhitelisted,
      isBlacklisted,
      feeAddress,
      feePerOutput: this.#feePerOutput,
      credits,
      debits,
      balance,
      outputs
    }
  }

  #reason(isWhitelisted: boolean, isBlacklisted: boolean, balance: bigint): ActivationReason {
    if (isBlacklisted) return 'blacklisted'
    if (isWhitelisted) return 'whitelisted'
    if (this.#all) return 'everything is indexed'
    if (!this.feeAddresses) return 'not whitelisted'
    return balance > 0n ? 'paid for' : 'not paid for'
  }

  async isActive(token: TokenId): Promise<boolean> {
    if (this.#all) return !(await this.#outputs.store.use(lists).at('blacklist').has(token))
    return (await this.status(token)).isActive
  }

  /** For `TopicFamily.open`: refuses submissions to the topic of an inactive token. */
  async open(topic: string): Promise<void> {
    const token = tokenOfTopic(topic)
    if (token === undefined || (await this.isActive(token))) return
    const { reason, feeAddress } = await this.status(token)
    throw new QuoinError('ERR_TOKEN_INACTIVE', `token ${token} is not indexed: ${reason}`, {
      token,
      reason,
      ...(feeAddress !== undefined && { feeAddress })
    })
  }

  list(list: TokenList): Promise<TokenId[]> {
    return this.#outputs.store.use(lists).at(list).members()
  }

  async add(list: TokenList, token: TokenId): Promise<void> {
    const batch = this.#outputs.store.batch()
    batch.use(lists).at(list).add(token)
    await batch.commit()
    this.#notify(token)
  }

  async remove(list: TokenList, token: TokenId): Promise<void> {
    const batch = this.#outputs.store.batch()
    batch.use(lists).at(list).delete(token)
    await batch.commit()
    this.#notify(token)
  }

  /** Calls back when this process changes a list. */
  onChange(changed: (token: TokenId) => void): void {
    this.#changed.push(changed)
  }

  #notify(token: TokenId): void {
    for (const changed of this.#changed) changed(token)
  }
}

const { own } = outputEvents.types
const NOTHING = { satoshis: 0n, outputs: 0 }
const ACTIVE: ReadonlySet<ActivationReason> = new Set(['everything is indexed', 'whitelisted', 'paid for'])
