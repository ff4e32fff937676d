/**
 * Plays a history into an index: draws what happens, performs it, and looks whether what came of it is what the model
 * says. In the end it brings the index to rest: everything that there is has arrived, and nothing else is left.
 */
import { Beef, Bump, type Transaction } from '@quoin/chain'
import { formatTxid, type Txid } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { Actions } from './actions.testing.ts'
import { checkMeanwhile } from './checks.testing.ts'
import { firstDifference } from './differences.testing.ts'
import { explain } from './explain.testing.ts'
import { Follower } from './follower.testing.ts'
import { Model } from './model.testing.ts'
import { observe } from './observe.testing.ts'
import { DONE, type Operation } from './operation.testing.ts'
import type { Random } from './random.testing.ts'
import type { Target } from './target.testing.ts'
import { addressOf, idOf } from './wallet.testing.ts'
import type { World } from './world.testing.ts'

/** How many operations came to what, by kind. */
export type Tally = Map<string, number>

export class Player {
  readonly world: World
  readonly target: Target
  readonly follower = new Follower()
  /** Hears only of some. */
  readonly listener: Follower
  readonly #random: Random
  readonly #actions: Actions
  readonly #log: string[] = []
  readonly tally: Tally = new Map()
  model = new Model()

  constructor(random: Random, world: World, target: Target) {
    this.#random = random
    this.world = world
    this.target = target
    this.#actions = new Actions(random, world, () => this.model)
    this.listener = new Follower(world.wallet.keys.slice(0, 2).map(key => `own:${addressOf(key)}`))
  }

  /** How often what happened, and what came of it. */
  get counts(): Tally {
    return new Map([...this.tally, ...this.model.notes])
  }

  /** What happened last. */
  get story(): string {
    return this.#log.slice(-40).join('\n')
  }

  async begin(): Promise<void> {
    await this.perform(await this.#actions.headers())
  }

  async step(): Promise<void> {
    const random = this.#random
    this.world.tick()
    if (random.chance(0.03)) await this.#restart()
    if (random.chance(0.1)) await this.#reconnect()
    if (random.chance(0.03)) await checkMeanwhile(this)
    if (random.chance(0.004)) return this.takeEverythingBack()
    if (random.chance(0.05)) {
      await this.perform(...(await this.#actions.collision()))
      return
    }
    const operations = await this.#actions.next()
    if (random.chance(0.75)) {
      await this.perform(operations)
      return
    }
    const others = [await this.#actions.next()]
    if (random.chance(0.3)) others.push(await this.#actions.next())
    // There is one who follows the chain. And the more there is at once, the more orders there are to look at.
    await this.perform(operations, ...others.map(lane => lane.filter(each => !isOfChain(each)).slice(0, 2)))
  }

  async #restart(): Promise<void> {
    this.#note('restart')
    await this.leave()
    await this.target.restart()
  }

  async leave(): Promise<void> {
    for (const each of [this.follower, this.listener]) await each.disconnect()
  }

  async #reconnect(): Promise<void> {
    for (const each of [this.follower, this.listener]) {
      if (each.isConnected) this.#add('a follower lost the connection')
      if (each.isConnected) await each.disconnect()
      else if (this.#random.chance(0.7)) each.connect(this.target.outputs)
    }
  }

  /** Lanes run at once. Answers what came of the last. */
  async perform(...lanes: readonly (readonly Operation[])[]): Promise<string | undefined> {
    const busy = lanes.filter(lane => lane.length > 0)
    if (busy.length === 0) return undefined
    for (const [i, lane] of busy.entries()) {
      for (const operation of lane) this.#say(`${busy.length > 1 ? `lane ${i}: ` : ''}${describe(operation)}`)
    }
    const { lanes: happened, after, isCrash } = await this.target.perform(busy)
    const all = [...happened.flat(), ...after]
    for (const { operation, outcome } of all) this.#count(operation, outcome)
    if (busy.length > 1) this.#add('several at once')
    if (isCrash) this.#note('crash')
    const isCertain = busy.length === 1 && !isCrash
    const found =
      isCertain && !this.#random.chance(0.15) ? undefined : await observe(this.target.outputs.store)
    const explained = explain(this.model, happened, after, found)
    if (typeof explained === 'string') throw new Error(explained)
    this.model = explained
    return all.at(-1)!.outcome
  }

  #count({ kind }: Operation, outcome: string | undefined): void {
    const text = outcome === undefined ? 'crash' : outcome.split(':')[0]!
    this.#say(`  ${kind}: ${outcome ?? 'crash'}`)
    this.#add(`${kind} ${text}`)
  }

  #note(what: string): void {
    this.#say(what)
    this.#add(what)
  }

  #add(name: string): void {
    this.tally.set(name, (this.tally.get(name) ?? 0) + 1)
  }

  #say(line: string): void {
    this.#log.push(line)
  }

  /** Then there has to be nothing at all. */
  async takeEverythingBack(): Promise<void> {
    this.#note('everything is taken back')
    await this.perform([{ kind: 'rollbackTo', height: -1 }])
    const rest = this.#random.some([...this.model.stored.values()], this.model.stored.size)
    for (const { transaction } of rest) await this.perform([{ kind: 'rollback', txid: transaction.txid }])
    const nothing = await openStore('memory:')
    const left = await firstDifference(this.target.outputs.store, nothing)
    if (left !== undefined) throw new Error(`everything was taken back, but not ${left}`)
  }

  /** The chain decides: what it has arrives, in any order, and what it has not goes. */
  async rest(): Promise<void> {
    const random = this.#random
    const { world } = this
    world.tick()
    if (random.chance(0.4)) world.chain.mine()
    await this.perform(await this.#actions.headers())
    await this.perform([{ kind: 'reconcile', from: 0, source: await world.answers() }])
    await this.#arrive(random.some(world.mined, Number.POSITIVE_INFINITY))
    for (const transaction of this.#dead()) await this.#must({ kind: 'rollback', txid: transaction.txid })
    await this.#arrive(world.chain.mempool)
  }

  /** What nothing speaks against. */
  async #must(operation: Operation): Promise<void> {
    if ((await this.perform([operation])) !== DONE)
      throw new Error(`${describe(operation)} was refused at the end`)
  }

  /** What the index has and the chain has not. */
  #dead(): Transaction[] {
    return [...this.model.stored.values()]
      .map(each => each.transaction)
      .filter(each => !this.world.isAlive(each))
  }

  async #arrive(transactions: readonly Transaction[]): Promise<void> {
    for (const transaction of transactions) {
      const known = this.model.stored.get(idOf(transaction))
      if (!known?.record.isIndexed) await this.#must(await this.#actions.index(transaction))
      const place = this.model.stored.get(idOf(transaction))?.place
      if (place?.height === this.world.chain.heightOf(transaction.txid)) continue
      for (const proof of await this.#actions.prove(transaction.txid)) await this.#must(proof)
    }
  }
}

const isOfChain = ({ kind }: Operation): boolean => kind === 'headers' || kind === 'reconcile'

const describe = (operation: Operation): string => {
  const short = (txid: Txid): string => formatTxid(txid).slice(0, 8)
  switch (operation.kind) {
    case 'index': {
      const beef = Beef.parse(operation.beef)
      const parts = beef.transactions.map(
        ({ txid, transaction, bump }) =>
          `${short(txid)}${transaction ? '' : ' by name'}${bump ? ` at ${bump.height}` : ''}`
      )
      return `index ${short(beef.subject)} of [${parts.join(', ')}] seen ${operation.seen}`
    }
    case 'prove':
      return `prove ${short(operation.txid)} at ${Bump.parse(operation.bump).height}`
    case 'headers':
      return `headers to ${operation.headers.length / 80 - 1}`
    case 'reconcile':
      return `reconcile from ${operation.from} ${operation.source ? 'with' : 'without'} a source`
    case 'plugin':
      return `plugin on ${short(operation.txid)}: ${operation.marks.map(({ mark }) => mark).join(', ')}`
    case 'rollback':
      return `roll back ${short(operation.txid)}`
    case 'rollbackTo':
      return `roll back to ${operation.height}`
  }
}
