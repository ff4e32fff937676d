/** Observations of a topic (BRC-192 §2): its snapshot, and the entries of its membership log. */
import { formatTxid, hasCode, type Outpoint, type Txid, txidOf, voutOf } from '@quoin/primitives'
import type { MembershipChange, MembershipEntry, OutputStore } from '@quoin/txo'

export interface Chain {
  readonly network: string
  readonly genesisHash: string
}

export interface Scope {
  readonly chain: Chain
  readonly provider: string
  readonly service: string
  readonly queryDigest: string
  readonly rulesDigest: string
  readonly access: string
  readonly epoch: string
}

interface Observation {
  readonly id: string
  readonly scope: Scope
  readonly kind: 'output' | 'spend' | 'withdraw'
  readonly payload: object
}

export interface Group {
  readonly id: string
  readonly sequence: string
  readonly observations: readonly Observation[]
}

export class Observations {
  readonly #outputs: OutputStore
  readonly #scope: Scope

  constructor(outputs: OutputStore, scope: Scope) {
    this.#outputs = outputs
    this.#scope = scope
  }

  /** The group of one output of the snapshot; undefined when its transaction was rolled back since. */
  async ofSnapshot(index: number, outpoint: Outpoint, watermark: number): Promise<Group | undefined> {
    const payload = await this.#output(outpoint)
    const id = `s:${index}`
    return (
      payload && {
        id,
        sequence: String(watermark),
        observations: [{ id: `${id}:0`, scope: this.#scope, kind: 'output', payload }]
      }
    )
  }

  /** The group of an entry; undefined when it changes no membership. */
  async ofEntry({ position, changes }: MembershipEntry): Promise<Group | undefined> {
    const id = `l:${position}`
    const observations: Observation[] = []
    const add = (kind: Observation['kind'], payload: object): void =>
      void observations.push({ id: `${id}:${observations.length}`, scope: this.#scope, kind, payload })
    for (const change of changes) {
      if ('txid' in change) continue
      for (const [kind, payload] of await this.#ofChange(change)) add(kind, payload)
    }
    return observations.length === 0 ? undefined : { id, sequence: String(position), observations }
  }

  async #ofChange(
    change: Extract<MembershipChange, { readonly outpoint: Outpoint }>
  ): Promise<(readonly [Observation['kind'], object])[]> {
    const { kind, outpoint } = change
    const withdrawn = ['withdraw', { outpoint: this.#name(outpoint), reason: kind }] as const
    if (kind === 'admitted' || kind === 'restored') {
      const payload = await this.#output(outpoint)
      // A later entry withdraws an output whose transaction was rolled back.
      return payload ? [['output', payload]] : []
    }
    if (kind !== 'spent') return [withdrawn]
    const beef = await this.#beef(change.spender)
    if (beef === undefined) return [withdrawn]
    const spend = { previous: this.#name(outpoint), spendingTxid: formatTxid(change.spender), beef }
    return [['spend', spend], withdrawn]
  }

  async #output(outpoint: Outpoint): Promise<object | undefined> {
    const beef = await this.#beef(txidOf(outpoint))
    const { txid, outputIndex } = this.#name(outpoint)
    return beef === undefined ? undefined : { evidence: { txid, outputIndex, beef } }
  }

  async #beef(txid: Txid): Promise<string | undefined> {
    try {
      return Buffer.from(await this.#outputs.transactions.beef(txid)).toString('base64')
    } catch (error) {
      if (hasCode(error, 'ERR_TX_UNKNOWN')) return undefined
      throw error
    }
  }

  #name(outpoint: Outpoint) {
    return { chain: this.#scope.chain, txid: formatTxid(txidOf(outpoint)), outputIndex: voutOf(outpoint) }
  }
}
