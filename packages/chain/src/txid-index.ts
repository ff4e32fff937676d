import { bytesKey, equalBytes, type Txid } from '@quoin/primitives'

/** Up to this many txids a linear search is faster than building map keys. */
const FEW = 8

/** Index of each txid in a list: the first, for duplicates. */
export class TxidIndex {
  readonly #txids: readonly Txid[]
  readonly #byName: ReadonlyMap<string, number> | undefined

  constructor(txids: readonly Txid[]) {
    this.#txids = txids
    if (txids.length <= FEW) return
    const byName = new Map<string, number>()
    for (const [place, txid] of txids.entries()) {
      const name = bytesKey(txid)
      if (!byName.has(name)) byName.set(name, place)
    }
    this.#byName = byName
  }

  of(txid: Txid): number | undefined {
    if (this.#byName) return this.#byName.get(bytesKey(txid))
    const place = this.#txids.findIndex(each => each[0] === txid[0] && equalBytes(each, txid))
    return place === -1 ? undefined : place
  }
}
