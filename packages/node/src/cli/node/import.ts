/**
 * `quoin import`: transactions from files into a store. The store keeps the position in each file after every part, so an
 * interrupted import resumes there. Import is idempotent. Active tokens are brought up to date with it.
 */
import { beefOfRecord, type FileRecord, fileSize, recordsOf } from '@quoin/chain'
import { QuoinError } from '@quoin/primitives'
import { bytes, count, EXIT, paint, plural, print, printJson } from '@quoin/primitives/command'
import { FileProgress } from '@quoin/txo'
import type { Config, IngestBeef, OpenNode } from '../../server/index.ts'
import { configOf, server } from './settings.ts'
import { signals } from './shutdown-signals.ts'
import { duration } from './status.ts'
import { catchUp, withChain } from './stored-chain.ts'

export interface ImportOptions extends Readonly<Record<string, string | readonly string[] | undefined>> {}

/** Transactions that are worked on at once, and after which the place is kept. */
const PART = 256
/** Reasons that are printed; the rest are counted. */
const MAX_REASONS = 20

interface Outcome {
  readonly file: string
  readonly imported: number
  readonly failed: number
  /** Where it began, in bytes, when it went on from before. */
  readonly from: number
  readonly interrupted: boolean
}

export const importFiles = async (
  files: readonly string[],
  { topic, ...options }: ImportOptions,
  json: boolean
): Promise<number> => {
  const ending = signals()
  const topics = (topic ?? []) as readonly string[]
  const loaded = await configOf({ logLevel: 'warn', ...options })
  const sizes = await Promise.all(files.map(fileSize))
  const { openNode } = await server()
  const config = await withChain(loaded.config, loaded.origins.get('chain')!)
  const node = await openNode(config)
  let stopped = false
  void ending.first.then(() => {
    stopped = true
  })
  try {
    await catchUp(node)
    const take = await taker(node, config, topics)
    const outcomes: Outcome[] = []
    for (const [i, file] of files.entries()) {
      const work = { node, take, size: sizes[i]!, quiet: json, isStopped: () => stopped }
      outcomes.push(await importFile(file, work))
      if (stopped) break
    }
    if (!stopped) await node.tokens?.pipeline.settle()
    if (json) printJson({ store: options['store'], interrupted: stopped, files: outcomes })
    if (stopped) process.stderr.write('quoin: interrupted; the same command goes on from here\n')
    const failed = outcomes.some(each => each.failed > 0)
    return failed || stopped ? EXIT.no : EXIT.ok
  } finally {
    await node.close()
    ending.end()
  }
}

/** To topics when some are named, and otherwise into the index alone. */
const taker = async (node: OpenNode, config: Config, topics: readonly string[]): Promise<IngestBeef> => {
  const { toTopics, withTokens } = await server()
  if (topics.length > 0) return withTokens(node, toTopics(node, topics))
  if (config.index === 'off') {
    throw new QuoinError(
      'ERR_USAGE',
      'nothing to import: the index is off; name a --topic or turn on the index'
    )
  }
  return withTokens(node, async beef => {
    await node.engine.indexer.index(beef)
  })
}

interface Work {
  readonly node: OpenNode
  readonly take: IngestBeef
  readonly size: number
  readonly quiet: boolean
  isStopped(): boolean
}

const importFile = async (file: string, work: Work): Promise<Outcome> => {
  const { isAboutTheTransaction } = await server()
  const { node, take, size, quiet, isStopped } = work
  const place = new FileProgress(node.store, file)
  const from = await place.read()
  const progress = progressLine(file, from, size, !quiet)
  let [imported, failed, done] = [0, 0, from]
  const finishPart = async (part: readonly FileRecord[]): Promise<void> => {
    const results = await Promise.allSettled(part.map(async record => take(beefOfRecord(record))))
    for (const [i, result] of results.entries()) {
      if (result.status === 'fulfilled') {
        imported++
        continue
      }
      if (!isAboutTheTransaction(result.reason)) throw result.reason
      if (++failed <= MAX_REASONS) {
        progress.clear()
        const where = from > 0 ? `${file}, before byte ${part[i]!.end}` : `${file}, line ${part[i]!.line}`
        process.stderr.write(`quoin: ${where}: ${result.reason.message} [${result.reason.code}]\n`)
      }
    }
    done = part.at(-1)!.end
    const mark = await place.marker(done)
    const batch = node.store.batch()
    mark(batch)
    await batch.commit()
    progress.report(done, imported + failed)
  }
  let part: FileRecord[] = []
  for await (const record of recordsOf(file, from)) {
    part.push(record)
    if (part.length < PART) continue
    await finishPart(part)
    part = []
    if (isStopped()) break
  }
  if (part.length > 0 && !isStopped()) await finishPart(part)
  progress.clear()
  const interrupted = isStopped() && done < size
  if (!quiet) {
    const again = from > 0 ? ` (went on at byte ${count(from)})` : ''
    const bad = failed > 0 ? `, ${paint('red', `${count(failed)} failed`)}` : ''
    print(
      `${file}: ${plural(imported, 'transaction')} imported${bad}, ${progress.rate(imported + failed)}${again}`
    )
  }
  return { file, imported, failed, from, interrupted }
}

const progressLine = (file: string, from: number, size: number, isWanted: boolean) => {
  const began = performance.now()
  const isShown = isWanted && process.stderr.isTTY === true
  const seconds = (): number => Math.max((performance.now() - began) / 1000, 1e-3)
  const rate = (transactions: number): string => `${count(Math.round(transactions / seconds()))} a second`
  return {
    rate,
    report: (done: number, transactions: number): void => {
      if (!isShown) return
      const left = ((size - done) * seconds()) / Math.max(done - from, 1)
      const part = `${Math.floor((100 * done) / Math.max(size, 1))} % of ${bytes(size)}`
      process.stderr.write(`\r\u001b[K${file}: ${part}, ${rate(transactions)}, ${duration(left)} left`)
    },
    clear: (): void => {
      if (isShown) process.stderr.write('\r\u001b[K')
    }
  }
}
