/**
 * What the index should know after each operation: the same rules, written down in the plainest way. It keeps what
 * cannot be derived (which transactions, since when, where, who said what of them); rows and balances follow from that
 * and are compared elsewhere.
 */
import { Beef, Bump } from '@quoin/chain'
import { formatTxid, type Txid } from '@quoin/primitives'
import {
  type Found,
  inputsOf,
  isOf,
  type Place,
  placeOf,
  recordOf,
  rootsOf,
  type Stored
} from './knowledge.testing.ts'
import { marked, showMarks, unmarked } from './marks.testing.ts'
import { answerOf, conflictOf, DONE, type Operation } from './operation.testing.ts'

/** A play of an operation: it stops between what the index does one after the other, and says where it is. */
export type Play = Generator<string, string>

export class Model {
  stored = new Map<string, Stored>()
  /** Spenders by outpoint. */
  spenders = new Map<string, string>()
  /** Conflicts that have to be on record: the outpoint, and who wanted it. */
  conflicts = new Set<string>()
  /** How often it came to what. */
  notes = new Map<string, number>()
  /** Merkle roots of the chain that the headers say, by height. */
  #roots: readonly string[] = []

  clone(): Model {
    const copy = new Model()
    copy.#become(this)
    return copy
  }

  #become(other: Model): void {
    this.stored = new Map(other.stored)
    this.spenders = new Map(other.spenders)
    this.conflicts = new Set(other.conflicts)
    this.notes = new Map(other.notes)
    this.#roots = other.#roots
  }

  #note(text: string): void {
    this.notes.set(text, (this.notes.get(text) ?? 0) + 1)
  }

  /** In what it differs from what it was. */
  changesSince(before: Model): string {
    const gone = [...before.stored.keys()].filter(id => !this.stored.has(id))
    const changed = [...this.stored].filter(([id, each]) => before.stored.get(id) !== each)
    const shown = changed.map(
      ([id, { place, record }]) =>
        `${id} ${place?.height}/${place?.index} ${record.seen} ${record.isIndexed} ${showMarks(record)}`
    )
    return [this.#roots.length, ...gone.sort(), ...shown.sort()].join('\n')
  }

  get tip(): number {
    return this.#roots.length - 1
  }

  /** @param isMoving Whether the chain may change meanwhile, so that it matters when proofs are looked at. */
  play(operation: Operation, isMoving = false): Play {
    switch (operation.kind) {
      case 'index':
        return this.#index(operation, isMoving)
      case 'prove':
        return this.#prove(operation, isMoving)
      case 'reconcile':
        return this.#reconcile(operation)
      case 'rollbackTo':
        return this.#rollbackTo(operation.height)
      default:
        return this.#once(operation)
    }
  }

  // biome-ignore lint/correctness/useYield: what is one commit does not stop on the way.
  *#once(operation: Extract<Operation, { kind: 'headers' | 'plugin' | 'rollback' }>): Play {
    switch (operation.kind) {
      case 'headers': {
        const roots = rootsOf(operation.headers)
        // All blocks are worth the same work.
        if (roots.length > this.#roots.length) this.#roots = roots
        return DONE
      }
      case 'plugin':
        return this.#plugin(operation)
      case 'rollback':
        this.#remove(formatTxid(operation.txid))
        return DONE
    }
  }

  *#index({ beef: bytes, seen }: Extract<Operation, { kind: 'index' }>, isMoving: boolean): Play {
    const beef = Beef.parse(bytes)
    const roots = this.#roots
    if (isMoving) yield `checked at ${roots.length}`
    let proven: readonly string[] = []
    const outcome = this.#atomically(draft => {
      const found = draft.#walk(beef, roots)
      if (typeof found === 'string') return found
      proven = [...found.proofs.keys()]
      return draft.#save(formatTxid(beef.subject), found, seen)
    })
    if (outcome !== DONE) return outcome
    if (isMoving) yield `saved ${proven}`
    for (const id of proven) this.#lookAgain(id)
    return DONE
  }

  /** All or nothing, but for what is on record of a refusal. */
  #atomically(act: (draft: Model) => string): string {
    const draft = this.clone()
    const outcome = act(draft)
    if (outcome === DONE) this.#become(draft)
    else this.conflicts = draft.conflicts
    return outcome
  }

  /** What was found in a BEEF becomes known. */
  #save(subject: string, { fresh, proofs }: Found, seen: number): string {
    for (const [id, { txid, bump }] of proofs) {
      const known = this.stored.get(id)
      if (known) this.stored.set(id, { ...known, place: placeOf(bump, txid) })
    }
    for (const transaction of fresh) {
      const id = formatTxid(transaction.txid)
      const proof = proofs.get(id)
      const place = proof && placeOf(proof.bump, proof.txid)
      this.stored.set(id, { transaction, place, record: recordOf(seen) })
      const outcome = id === subject ? DONE : this.#claim(id)
      if (outcome !== DONE) return outcome
    }
    const known = this.stored.get(subject)!
    this.stored.set(subject, { ...known, record: { ...known.record, isIndexed: true } })
    return this.#claim(subject)
  }

  /** What of a BEEF was not known, and its proofs, as far as they are news. */
  #walk(beef: Beef, roots: readonly string[]): Found | string {
    const visited = new Set<string>()
    const proofs = new Map<string, { txid: Txid; bump: Bump }>()
    const wanted = [beef.subject]
    const seen = new Set(wanted.map(formatTxid))
    for (const txid of wanted) {
      const id = formatTxid(txid)
      const entry = beef.find(txid)
      const known = this.stored.get(id)
      if (!known && !entry?.transaction) return 'ERR_TX_UNKNOWN'
      const bump = entry?.bump
      if (bump && bump.height !== known?.place?.height) proofs.set(id, { txid, bump })
      if (known) continue
      visited.add(id)
      if (bump) continue
      for (const input of entry!.transaction!.inputs) {
        if (!seen.has(formatTxid(input.txid))) wanted.push(input.txid)
        seen.add(formatTxid(input.txid))
      }
    }
    const entries = beef.transactions.filter(({ txid }) => visited.has(formatTxid(txid)))
    const fresh = entries.map(({ transaction }) => transaction!)
    const unproven = fresh.filter(({ txid }) => !proofs.has(formatTxid(txid)))
    const spent = unproven.flatMap(inputsOf)
    const isGood =
      new Set(spent).size === spent.length &&
      [...proofs.values()].every(({ txid, bump }) => isOf(roots, txid, bump))
    return isGood ? { fresh, proofs } : 'ERR_TX_INVALID'
  }

  /** What a transaction spends is its own. One that is not mined gives way to one that is. */
  #claim(id: string): string {
    for (const outpoint of inputsOf(this.stored.get(id)!.transaction)) {
      const other = this.spenders.get(outpoint)
      if (other !== undefined && other !== id) {
        const isFirst = !this.stored.get(id)!.place || this.stored.get(other)!.place
        if (isFirst || this.#remove(other).has(id)) {
          this.conflicts.add(`${outpoint} ${id}`)
          return conflictOf({ outpoint, spender: other, txid: id })
        }
        this.#note('an unmined one gave way')
      }
      this.spenders.set(outpoint, id)
      this.#unmark(outpoint)
    }
    return DONE
  }

  /** Of what is known to be spent no topic has to say so. */
  #unmark(outpoint: string): void {
    const [id, vout] = outpoint.split('.') as [string, string]
    const known = this.stored.get(id)
    const output = known?.record.outputs.get(Number(vout))
    if (!known || !output) return
    const outputs = new Map(known.record.outputs).set(Number(vout), unmarked(output))
    this.stored.set(id, { ...known, record: { ...known.record, outputs } })
  }

  /** Takes back a transaction and everything downstream. */
  #remove(root: string): Set<string> {
    const gone = new Set([root])
    for (const id of gone) {
      const count = this.stored.get(id)?.transaction.outputCount ?? 0
      for (let vout = 0; vout < count; vout++) {
        const spender = this.spenders.get(`${id}.${vout}`)
        if (spender !== undefined) gone.add(spender)
      }
    }
    for (const [outpoint, spender] of this.spenders) if (gone.has(spender)) this.spenders.delete(outpoint)
    for (const id of gone) this.stored.delete(id)
    return gone
  }

  #isGood({ height, root }: Place): boolean {
    return this.#roots[height] === root
  }

  *#prove({ txid, bump: bytes }: Extract<Operation, { kind: 'prove' }>, isMoving: boolean): Play {
    const bump = Bump.parse(bytes)
    const id = formatTxid(txid)
    if (!isOf(this.#roots, txid, bump)) return 'ERR_PROOF_INVALID'
    if (isMoving) yield 'checked'
    const known = this.stored.get(id)
    if (!known) return 'ERR_TX_UNKNOWN'
    this.stored.set(id, { ...known, place: placeOf(bump, txid) })
    if (isMoving) yield 'saved'
    this.#lookAgain(id)
    return DONE
  }

  /** A proof that the chain has outdated while it was saved is no proof. */
  #lookAgain(id: string): void {
    if (!this.#isRight(id)) this.#reprove(id, undefined)
  }

  #plugin({ txid, marks }: Extract<Operation, { kind: 'plugin' }>): string {
    const id = formatTxid(txid)
    const known = this.stored.get(id)
    if (!known) return 'ERR_STALE_READ'
    const isSpent = (vout: number): boolean => this.spenders.has(`${id}.${vout}`)
    this.stored.set(id, { ...known, record: { ...known.record, ...marked(known.record, marks, isSpent) } })
    return DONE
  }

  *#reconcile({ from, source }: Extract<Operation, { kind: 'reconcile' }>): Play {
    const listed = this.minedAbove(from - 1)
    for (const [i, id] of listed.entries()) {
      if (this.#isRight(id)) continue
      yield `looks at ${listed.slice(i)}`
      if (this.#isRight(id)) continue
      const outcome = this.#reprove(id, source)
      if (outcome !== DONE) return outcome
    }
    return DONE
  }

  #isRight(id: string): boolean {
    const place = this.stored.get(id)?.place
    return !place || this.#isGood(place)
  }

  #reprove(id: string, source: Extract<Operation, { kind: 'reconcile' }>['source']): string {
    const known = this.stored.get(id)!
    const { txid, isCoinbase } = known.transaction
    const answer = source ? answerOf(source, id) : undefined
    if (answer?.status === 'mined') {
      if (!isOf(this.#roots, txid, answer.bump)) return 'ERR_PROOF_INVALID'
      this.stored.set(id, { ...known, place: placeOf(answer.bump, txid) })
      this.#note('a reorg moved one')
    } else if (answer?.status === 'unknown' || isCoinbase) {
      this.#remove(id)
      this.#note('a reorg removed one')
    } else {
      this.stored.set(id, { ...known, place: undefined })
      this.#note('a reorg unmined one')
    }
    return DONE
  }

  /** Those with proofs of blocks above a height, in the order of the chain. */
  minedAbove(height: number): string[] {
    return [...this.stored]
      .flatMap(([id, { place }]) => (place && place.height > height ? [{ id, place }] : []))
      .sort((a, b) => a.place.height - b.place.height || a.place.index - b.place.index)
      .map(({ id }) => id)
  }

  *#rollbackTo(height: number): Play {
    for (;;) {
      const last = this.minedAbove(height).at(-1)
      if (last === undefined) return DONE
      this.#remove(last)
      if (this.minedAbove(height).length > 0) yield 'goes on'
    }
  }
}
