/**
 * `quoin import overlay-express`: submits the transactions of an overlay-express again, each to its topics. Everything is
 * verified, and the topics of this node decide; the outputs that are live there and not here are counted and named. A
 * repeated import changes nothing.
 */
import { Beef, type BeefTransaction } from '@quoin/chain'
import { formatTxid, makeOutpoint, parseTxid, QuoinError, type Topic } from '@quoin/primitives'
import { count, EXIT, paint, plural, print, printJson } from '@quoin/primitives/command'
import { outputs as outputKeys } from '@quoin/txo'
import type { IngestBeef, OpenNode } from '../../server/index.ts'
import type { ImportOptions } from './import.ts'
import { type AppliedRow, OverlayExpressDatabase } from './overlay-express-database.ts'
import { configOf, server } from './settings.ts'
import { signals } from './shutdown-signals.ts'
import { catchUp, withChain } from './stored-chain.ts'

/** Outputs and reasons that are printed; the rest are counted. */
const MAX_SHOWN = 20

interface Report {
  /** Transactions, once for each topic. */
  readonly submitted: number
  /** Without a BEEF of their own, and found as an ancestor of another one. */
  readonly recovered: number
  /** Without a BEEF anywhere. */
  readonly lost: number
  readonly failed: number
  /** Transactions of topics that the node does not have, by topic. */
  readonly unknownTopics: Readonly<Record<string, number>>
  readonly live: number
  /** Outputs that are live in the database and not in this node. */
  readonly missing: readonly string[]
}

export const importOverlayExpress = async (
  from: string,
  { topic: only, ...options }: ImportOptions,
  json: boolean
): Promise<number> => {
  const ending = signals()
  const loaded = await configOf({ logLevel: 'warn', ...options })
  const database = await OverlayExpressDatabase.open(from)
  try {
    const { openNode } = await server()
    const node = await openNode(await withChain(loaded.config, loaded.origins.get('chain')!))
    let isStopped = false
    void ending.first.then(() => {
      isStopped = true
    })
    try {
      await catchUp(node)
      const run = new OverlayExpressImport(node, database, only as readonly string[] | undefined)
      const report = await run.run(() => isStopped)
      if (json) printJson({ interrupted: isStopped, ...report })
      else printReport(report)
      if (isStopped) process.stderr.write('quoin: interrupted; the same command imports the rest\n')
      return isStopped || report.failed > 0 || report.missing.length > 0 ? EXIT.no : EXIT.ok
    } finally {
      await node.close()
    }
  } finally {
    await database.close()
    ending.end()
  }
}

class OverlayExpressImport {
  readonly #node: OpenNode
  readonly #database: OverlayExpressDatabase
  readonly #only: readonly string[] | undefined
  readonly #unknownTopics: Record<string, number> = {}
  #submitted = 0
  #recovered = 0
  #failed = 0

  constructor(node: OpenNode, database: OverlayExpressDatabase, only: readonly string[] | undefined) {
    this.#node = node
    this.#database = database
    this.#only = only
  }

  async run(isStopped: () => boolean): Promise<Report> {
    const lost = await this.#database.withoutBeef()
    let after = 0
    while (!isStopped()) {
      const page = await this.#database.applied(after)
      if (page.length === 0) break
      for (const { txid, topics, beef } of byTransaction(page)) {
        const parsed = beef && this.#parse(beef, txid)
        if (parsed) await this.#importBeef(parsed, txid, topics, lost)
      }
      after = page.at(-1)!.id
    }
    await this.#node.engine.settle()
    if (!isStopped()) await this.#node.tokens?.pipeline.settle()
    const { live, missing } = await this.#compare(isStopped)
    const unknownTopics = { ...this.#unknownTopics }
    return {
      submitted: this.#submitted,
      recovered: this.#recovered,
      lost: lost.size,
      failed: this.#failed,
      unknownTopics,
      live,
      missing
    }
  }

  #parse(beef: Uint8Array, txid: string): Beef | undefined {
    try {
      return Beef.parse(Uint8Array.from(beef))
    } catch (error) {
      if (!(error instanceof QuoinError)) throw error
      this.#fail(txid, `${error.message} [${error.code}]`)
      return undefined
    }
  }

  /** Ancestors whose own BEEF is gone go first: a topic may need their outputs. */
  async #importBeef(
    beef: Beef,
    txid: string,
    topics: readonly string[],
    lost: Map<string, string[]>
  ): Promise<void> {
    for (const each of beef.transactions) {
      const name = formatTxid(each.txid)
      const itsTopics = lost.get(name)
      if (!itsTopics || !each.transaction) continue
      lost.delete(name)
      this.#recovered++
      await this.#submit(beefFor(beef, each), name, itsTopics)
    }
    const subject = beef.find(parseTxid(txid))
    if (subject?.transaction) await this.#submit(beefFor(beef, subject), txid, topics)
    else this.#fail(txid, 'its BEEF does not have it')
  }

  async #submit(beef: Beef, txid: string, topics: readonly string[]): Promise<void> {
    const wanted = topics.filter(topic => this.#only?.includes(topic) ?? true)
    const known = wanted.filter(topic => this.#node.engine.topics.has(topic))
    for (const topic of wanted)
      if (!known.includes(topic)) this.#unknownTopics[topic] = (this.#unknownTopics[topic] ?? 0) + 1
    if (known.length === 0) return
    const { isAboutTheTransaction, toTopics, withTokens } = await server()
    const take: IngestBeef = withTokens(this.#node, toTopics(this.#node, known))
    try {
      await take(beef)
      this.#submitted += known.length
    } catch (error) {
      if (!isAboutTheTransaction(error)) throw error
      this.#fail(txid, `${error.message} [${error.code}]`)
    }
  }

  #fail(txid: string, reason: string): void {
    if (++this.#failed <= MAX_SHOWN) process.stderr.write(`quoin: ${txid}: ${reason}\n`)
  }

  async #compare(isStopped: () => boolean): Promise<{ live: number; missing: string[] }> {
    const { store } = this.#node.engine.outputs
    const missing: string[] = []
    let [live, after] = [0, 0]
    while (!isStopped()) {
      const page = await this.#database.live(after)
      if (page.length === 0) break
      after = page.at(-1)!.id
      for (const { txid, outputIndex, topic } of page) {
        if (!this.#node.engine.topics.has(topic) || this.#only?.includes(topic) === false) continue
        live++
        const members = store.use(outputKeys.collections.topicOutputs).at(topic as Topic)
        const outpoint = makeOutpoint(parseTxid(txid), outputIndex)
        if ((await members.score(outpoint)) === undefined) missing.push(`${topic} ${txid}.${outputIndex}`)
      }
    }
    return { live, missing }
  }
}

/** Rows of one transaction are near one another; a transaction that comes again is submitted to its other topics. */
const byTransaction = (
  rows: readonly AppliedRow[]
): { txid: string; topics: string[]; beef: Uint8Array | null }[] => {
  const found = new Map<string, { txid: string; topics: string[]; beef: Uint8Array | null }>()
  for (const { txid, topic, beef } of rows) {
    const known = found.get(txid)
    if (!known) found.set(txid, { txid, topics: [topic], beef })
    else if (!known.topics.includes(topic)) known.topics.push(topic)
  }
  return [...found.values()]
}

/** One transaction of a BEEF with its ancestors, as far as their proofs. */
const beefFor = (beef: Beef, subject: BeefTransaction): Beef => {
  const wanted = new Map<string, BeefTransaction>()
  const pending = [subject]
  for (let each = pending.pop(); each; each = pending.pop()) {
    const name = formatTxid(each.txid)
    if (wanted.has(name)) continue
    wanted.set(name, each)
    const parents = each.bump || !each.transaction ? [] : each.transaction.inputs
    for (const { txid } of parents) {
      const parent = beef.find(txid)
      if (parent) pending.push(parent)
    }
  }
  const [, ...ancestors] = wanted.values()
  return Beef.of([...ancestors, subject])
}

const printReport = ({ submitted, recovered, lost, failed, unknownTopics, live, missing }: Report): void => {
  const red = (value: number, text: string): string => (value > 0 ? `, ${paint('red', text)}` : '')
  print(`${plural(submitted, 'submission')}${red(failed, `${count(failed)} failed`)}`)
  if (recovered > 0) print(`${count(recovered)} without a BEEF of their own, found as ancestors of others`)
  if (lost > 0) print(`${count(lost)} whose BEEF overlay-express has deleted: all their outputs are spent`)
  for (const [topic, transactions] of Object.entries(unknownTopics))
    print(
      `${paint('yellow', topic)}: ${plural(transactions, 'transaction')} left out; name the plug-in of the topic with --plugins`
    )
  print(
    `${count(live - missing.length)} of ${plural(live, 'live output')} of these topics are here${red(missing.length, `${count(missing.length)} are not`)}`
  )
  for (const each of missing.slice(0, MAX_SHOWN)) print(`  not admitted: ${each}`)
}
