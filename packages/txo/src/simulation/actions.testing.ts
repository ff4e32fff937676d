/**
 * What may happen next: each action does something in the world, and says what the index is told of it. What it is told
 * may be late, early, twice, outdated or a lie.
 */
import type { Bump, Transaction } from '@quoin/chain'
import { formatTxid, type Txid, Writer } from '@quoin/primitives'
import { someMarks } from './marks.testing.ts'
import type { Model } from './model.testing.ts'
import type { Operation } from './operation.testing.ts'
import type { Random } from './random.testing.ts'
import { idOf } from './wallet.testing.ts'
import type { World } from './world.testing.ts'

const MAX_DEPTH = 6

export class Actions {
  readonly #random: Random
  readonly #world: World
  readonly #model: () => Model

  constructor(random: Random, world: World, model: () => Model) {
    this.#random = random
    this.#world = world
    this.#model = model
  }

  /** What the index is told, one after the other. */
  next(): Promise<Operation[]> {
    const act = this.#random.weighted<() => Promise<Operation[]>>([
      [24, () => this.#arrive()],
      [8, () => this.#payments()],
      [9, () => this.#doubleSpend()],
      [2, () => this.#comeBack()],
      [12, () => this.#mine()],
      [10, () => this.#prove()],
      [4, () => this.#badProof()],
      [3, () => this.headers()],
      [7, () => this.#reorg()],
      [3, async () => [await this.#reconcile(this.#random.between(0, this.#model().tip))]],
      [11, () => this.#plugin()],
      [3, () => this.#rollback()],
      [1, async () => [{ kind: 'rollbackTo', height: this.#model().tip - this.#random.between(0, 6) }]]
    ])
    return act()
  }

  /** Things that get into each other's way, to be done at once. */
  async collision(): Promise<Operation[][]> {
    const [random, world] = [this.#random, this.#world]
    const { height } = world.chain
    const alive = world.made.filter(each => world.isAlive(each))
    const recent = alive.filter(({ txid }) => (world.chain.heightOf(txid) ?? 0) > height - MAX_DEPTH)
    const isReorg = recent.length > 0 && random.chance(0.3)
    const [subject] = random.some(isReorg ? recent : alive, 1)
    if (!subject) return []
    const index = await this.index(subject)
    const proof = await this.prove(subject.txid)
    if (isReorg) return [await this.#reorg(), random.chance(0.5) ? [index] : proof]
    const { stored } = this.#model()
    const below = [subject.txid, ...subject.inputs.map(({ txid }) => txid)]
    const [txid = subject.txid] = random.some(
      below.filter(each => stored.has(formatTxid(each))),
      1
    )
    const rival = world.rivalOf(subject)
    return random.weighted<() => Operation[][] | Promise<Operation[][]>>([
      [4, () => [[index], [{ kind: 'rollback', txid }]]],
      [2, () => [proof, [{ kind: 'rollback', txid }]]],
      [2, async () => [[index], rival ? [await this.index(rival)] : []]],
      [1, () => [[index], [{ kind: 'plugin', txid: subject.txid, marks: someMarks(random, subject) }]]]
    ])()
  }

  async headers(): Promise<Operation[]> {
    return [{ kind: 'headers', headers: await this.#world.headers() }]
  }

  async index(transaction: Transaction): Promise<Operation> {
    const random = this.#random
    const version = random.pick([1, 2] as const)
    const model = this.#model()
    const isKnown = (id: string): boolean => (random.chance(0.02) ? true : model.stored.has(id))
    const shape = {
      version,
      atomic: random.chance(0.5),
      ...(version === 2 && random.chance(0.4) && { isKnown })
    }
    return { kind: 'index', beef: await this.#world.beef(transaction, shape), seen: this.#world.now }
  }

  async prove(txid: Txid): Promise<Operation[]> {
    const bump = await this.#world.proof(txid)
    return bump ? [{ kind: 'prove', txid, bump: bump.toBytes() }] : []
  }

  #isIndexed(transaction: Transaction): boolean {
    return this.#model().stored.get(idOf(transaction))?.record.isIndexed ?? false
  }

  async #arrive(): Promise<Operation[]> {
    const [random, world] = [this.#random, this.#world]
    const { made } = world
    const choose = random.weighted<() => Transaction[] | Promise<Transaction[]>>([
      [4, async () => [await world.pay()]],
      [5, () => made.filter(each => world.isAlive(each) && !this.#isIndexed(each))],
      [3, () => made.filter(each => world.isAlive(each) && !this.#isIndexed(each)).slice(-1)],
      [2, () => made.filter(each => world.isAlive(each))],
      [2, () => made.filter(each => !world.isAlive(each))],
      [1, () => world.mined]
    ])
    const chosen = random.some(await choose(), random.chance(0.8) ? 1 : 2)
    const operations = await Promise.all(chosen.map(each => this.index(each)))
    return random.chance(0.1) ? [...operations, ...operations] : operations
  }

  /** Payments that the index does not hear of, or only of the last. */
  async #payments(): Promise<Operation[]> {
    const paid: Transaction[] = []
    for (let more = this.#random.between(1, 4); more > 0; more--) paid.push(await this.#world.pay())
    return this.#random.chance(0.5) ? [await this.index(paid.at(-1)!)] : []
  }

  async #doubleSpend(): Promise<Operation[]> {
    const [random, world] = [this.#random, this.#world]
    const [victim] = random.some(
      world.made.filter(each => world.isAlive(each) && !world.isMined(each)),
      1
    )
    const rival = victim && world.rivalOf(victim)
    if (!rival) return []
    // The chain may take it instead, or never hear of it.
    if (random.chance(0.4)) await world.offer(rival, { replace: true })
    return random.chance(0.8) ? [await this.index(rival)] : []
  }

  /** What was dropped or refused is offered to the chain once more. */
  async #comeBack(): Promise<Operation[]> {
    const [random, world] = [this.#random, this.#world]
    const dead = world.made.filter(each => !world.isAlive(each))
    for (const each of random.some(dead, 3)) await world.offer(each, { replace: random.chance(0.3) })
    return []
  }

  async #mine(): Promise<Operation[]> {
    const [random, world] = [this.#random, this.#world]
    world.chain.mine(random.between(1, 2))
    if (random.chance(0.15)) return []
    const proofs: Operation[] = []
    if (random.chance(0.6)) {
      for (const each of this.#unproven())
        if (random.chance(0.5)) proofs.push(...(await this.prove(each.txid)))
    }
    return [...(await this.headers()), ...proofs.slice(0, 4)]
  }

  /** What the index has, and the chain has elsewhere than the index. */
  #unproven(): Transaction[] {
    const { stored } = this.#model()
    return this.#world.mined.filter(each => {
      const known = stored.get(idOf(each))
      return known && known.place?.height !== this.#world.chain.heightOf(each.txid)
    })
  }

  async #prove(): Promise<Operation[]> {
    const random = this.#random
    const wanted = random.chance(0.85) ? this.#unproven() : this.#world.mined
    const operations: Operation[] = []
    for (const { txid } of random.some(wanted, random.between(1, 3)))
      operations.push(...(await this.prove(txid)))
    return random.chance(0.2) ? [...operations, ...operations] : operations
  }

  async #badProof(): Promise<Operation[]> {
    const [random, world] = [this.#random, this.#world]
    const [one, other] = random.some(world.mined, 2)
    if (!one || !other) return []
    const bump = (await world.proof(other.txid))!
    const bad = random.weighted<() => { txid: Txid; bump: Uint8Array } | undefined>([
      [1, () => ({ txid: one.txid, bump: bump.toBytes() })],
      [1, () => ({ txid: other.txid, bump: atHeight(bump, random.between(0, world.chain.height + 2)) })],
      [
        2,
        () => {
          const [old] = random.some(world.oldProofs, 1)
          return old && { txid: old.txid, bump: old.bump.toBytes() }
        }
      ]
    ])()
    return bad ? [{ kind: 'prove', ...bad }] : []
  }

  async #reorg(): Promise<Operation[]> {
    const [random, world] = [this.#random, this.#world]
    const { height } = world.chain
    const depth = Math.min(random.between(1, MAX_DEPTH), height - 2)
    if (depth < 1) return []
    const again = world.made.filter(({ txid }) => (world.chain.heightOf(txid) ?? 0) > height - depth)
    const drop = random.some(again, random.chance(0.6) ? random.between(0, 2) : 0)
    const include = random.chance(0.6) ? this.#instead(again.filter(each => !drop.includes(each))) : []
    if (!(await world.reorg(depth, drop, include))) return []
    // Some of what was dropped waits to be mined again.
    for (const each of drop) if (random.chance(0.5)) await world.offer(each, { replace: false })
    if (random.chance(0.1)) return []
    const operations = await this.headers()
    if (random.chance(0.8)) operations.push(await this.#reconcile(height - depth + 1))
    return operations
  }

  /** Transactions for the blocks of a reorg: double spends of what they replace, or what was dead. */
  #instead(again: readonly Transaction[]): Transaction[] {
    const [random, world] = [this.#random, this.#world]
    const dead = world.made.filter(each => !world.isAlive(each))
    if (random.chance(0.4)) return random.some(dead, 1)
    const [victim] = random.some(again, 1)
    const rival = victim && world.rivalOf(victim)
    return rival ? [rival] : []
  }

  async #reconcile(from: number): Promise<Operation> {
    const random = this.#random
    const late = random.fork()
    const source = await random.weighted<() => ReturnType<World['answers']> | undefined>([
      [7, () => this.#world.answers()],
      [2, () => this.#world.answers(() => late.chance(0.3))],
      [1, () => undefined]
    ])()
    return { kind: 'reconcile', from, source }
  }

  async #plugin(): Promise<Operation[]> {
    const [random, world] = [this.#random, this.#world]
    const { stored } = this.#model()
    const known = [...stored.values()].map(({ transaction }) => transaction)
    const chosen = random.some(random.chance(0.9) ? known : world.made, random.between(1, 3))
    return chosen.map(each => {
      const before = stored.get(idOf(each))?.record.outputs
      return { kind: 'plugin', txid: each.txid, marks: someMarks(random, each, before) }
    })
  }

  async #rollback(): Promise<Operation[]> {
    const random = this.#random
    const known = [...this.#model().stored.values()].map(({ transaction }) => transaction)
    // The oldest rest on nothing, and everything on them: taken back too often, they would leave nothing.
    const chosen = random.some(random.chance(0.9) ? known.slice(-30) : this.#world.made, 1)
    return chosen.map(({ txid }) => ({ kind: 'rollback', txid }))
  }
}

/** The same path, said to be of another block. */
const atHeight = (bump: Bump, height: number): Uint8Array => {
  const bytes = bump.toBytes()
  const length = new Writer()
  length.varint(bump.height)
  const writer = new Writer()
  writer.varint(height)
  writer.bytes(bytes.subarray(length.finish().length))
  return writer.finish()
}
