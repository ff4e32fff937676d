/** All of BSV21 over a store: what tests and the simulation play with. */
import type { ProofSource, RootTracker } from '@quoin/chain'
import { Engine, SILENT } from '@quoin/overlay'
import type { Store } from '@quoin/store'
import { EventRegistry, OutputStore, outputEvents, scriptEvents } from '@quoin/txo'
import { Activation, type ActivationOptions } from './activation.ts'
import { type AddressSource, FeePayments } from './fee-payments.ts'
import { bsv21Events } from './keys.ts'
import { tokenLedger } from './ledger.ts'
import { tokenOverlay } from './overlay.ts'
import { Pipeline } from './pipeline/pipeline.ts'
import type { Source, SpendSource, TransactionSource } from './source/source.ts'
import { Tokens } from './tokens.ts'

export const TOKEN_EVENTS = new EventRegistry(outputEvents, scriptEvents, bsv21Events)

export interface TokenNodeOptions extends ActivationOptions {
  readonly chain: RootTracker & ProofSource
  readonly fetch?: TransactionSource
  readonly sources?: readonly Source[]
  /** Knows the spenders of outputs. */
  readonly spends?: SpendSource
  /** Where payments to fee addresses are asked for. */
  readonly payments?: AddressSource
  /** Whether all goes through the queues. */
  readonly isShared?: boolean
  readonly now?: () => number
}

export class TokenNode {
  readonly outputs: OutputStore
  readonly activation: Activation
  readonly engine: Engine
  readonly pipeline: Pipeline
  readonly tokens: Tokens

  constructor(
    store: Store,
    { chain, fetch, sources = [], spends, payments, isShared, now, ...options }: TokenNodeOptions
  ) {
    this.outputs = new OutputStore(store, {
      events: TOKEN_EVENTS,
      ledger: tokenLedger,
      ...(now && { now })
    })
    this.activation = new Activation(this.outputs, options)
    this.engine = new Engine({
      outputs: this.outputs,
      tracker: chain,
      proofs: chain,
      ...tokenOverlay(this.outputs, this.activation)
    })
    const { outputs } = this
    const { feeAddresses } = this.activation
    this.pipeline = new Pipeline({
      engine: this.engine,
      activation: this.activation,
      logger: SILENT,
      sources,
      fetch,
      spends,
      spendRate: 10_000,
      ...(payments &&
        feeAddresses && {
          payments: new FeePayments({ outputs, tracker: chain, source: payments, feeAddresses })
        }),
      ...(isShared !== undefined && { isShared }),
      ...(now && { now })
    })
    this.tokens = new Tokens(this.outputs)
  }

  async close(): Promise<void> {
    await this.pipeline.close()
    await this.engine.close()
  }
}
