import { bytesKey, equalBytes, type Txid } from '@quoin/primitives'

/** So few are looked through: that takes less than to make a name of each. */
const FEW = 8

/** Where each of some txids is among them: the first place, if it is there twice. */
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
