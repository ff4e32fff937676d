/** The network's refusal of a transaction for good, as the cause of a rollback. */
import type { Txid } from '@quoin/primitives'
import type { RollbackCause } from '@quoin/txo'
import { type ProcessorAnswer, textOf } from './network.ts'

export class Refusal implements RollbackCause {
  readonly txid: Txid
  readonly answer: ProcessorAnswer
  readonly reason: string

  constructor(txid: Txid, answer: ProcessorAnswer) {
    this.txid = txid
    this.answer = answer
    this.reason = `${answer.processor ?? 'the network'} refuses it: ${textOf(answer)}`
  }
}

/** The transaction has a proof that the headers confirm: the refusal is wrong. */
export class RefusedButMinedError extends Error {}
