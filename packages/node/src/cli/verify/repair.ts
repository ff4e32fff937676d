/** `quoin repair`: mends the findings of `quoin verify` in place, in rounds, until a round mends none. */

import type { Finding, FindingKind } from '@quoin/chain'
import type { AnyLookup } from '@quoin/overlay'
import { QuoinError } from '@quoin/primitives'
import { EXIT, paint, plural, print, printJson } from '@quoin/primitives/command'
import type { Store } from '@quoin/store'
import type { IndexRepair, OutputStore } from '@quoin/txo'
import { checkFacts, checkIndex, type Found } from './check.ts'
import { Findings, printFinding } from './findings.ts'
import { openForLong } from './open.ts'
import { type Progress, progressOn } from './progress.ts'
import { inspectRows, rowFinding } from './rows.ts'
import { withTemporaryStore } from './temporary.ts'
import { ofOneState, parseLimit, type VerifyCommand } from './verify.ts'

export interface RepairCommand extends VerifyCommand {
  readonly dryRun?: boolean
}

/** A repair may reveal faults of rows that depend on it. */
const ROUNDS = 6

export const repair = async (url: string, options: RepairCommand): Promise<number> => {
  const { checkLayouts, readOnlyUrl } = await import('@quoin/store')
  const { nodeStore } = await import('../../keyspaces.ts')
  const { json = false, dryRun = false } = options
  const limit = await parseLimit(options.limit)
  const progress = progressOn(process.stderr.isTTY === true)
  try {
    const outcome = new Outcome(limit, dryRun)
    const isWhole = await repairRows(url, outcome, progress)
    if (isWhole) {
      const store = await openForLong(dryRun ? readOnlyUrl(url) : url, () => progress.clear())
      try {
        await checkLayouts(store, nodeStore().members)
        await new Repair(url, store, outcome, { limit, temp: options.temp, dryRun, progress }).all()
      } finally {
        await store.close()
      }
    }
    progress.clear()
    if (json) printJson({ store: url, dryRun, ...outcome.asJson })
    else outcome.print(url)
    return outcome.left.total > 0 ? EXIT.no : EXIT.ok
  } finally {
    progress.clear()
  }
}

/** Mends damaged rows; answers whether all rows can be read then. */
const repairRows = async (url: string, outcome: Outcome, progress: Progress): Promise<boolean> => {
  const { repairRow } = await import('@quoin/store')
  const { rows, faults } = await inspectRows(url, progress)
  for (const finding of faults) outcome.left.add(finding)
  for (const row of faults.length > 0 ? [] : rows) {
    const became = await repairRow(url, row, { dryRun: outcome.dryRun })
    if (became === 'left') outcome.left.add(rowFinding(row, true))
    else if (became !== 'changed') outcome.mend('row-damaged')
  }
  return rows.length === 0 || (outcome.left.total === 0 && !outcome.dryRun)
}

interface RepairOptions {
  readonly limit: number
  readonly temp: string | undefined
  readonly dryRun: boolean
  readonly progress: Progress
}

class Outcome {
  readonly mended = new Map<FindingKind, number>()
  readonly dryRun: boolean
  left: Findings
  /** Rows that a writer changed meanwhile, in the last round. */
  changed = 0

  constructor(limit: number, dryRun: boolean) {
    this.dryRun = dryRun
    this.left = new Findings(limit, false)
  }

  mend(kind: FindingKind, count = 1): void {
    this.mended.set(kind, (this.mended.get(kind) ?? 0) + count)
  }

  get asJson(): object {
    return {
      [this.dryRun ? 'wouldMend' : 'mended']: Object.fromEntries(this.mended),
      left: this.left.listed,
      changedMeanwhile: this.changed
    }
  }

  print(url: string): void {
    for (const finding of this.left.listed) printFinding(finding)
    const verb = this.dryRun ? 'would mend' : 'mended'
    for (const [kind, count] of this.mended) print(`${verb} ${count} ${kind}`)
    if (this.changed > 0) {
      print(`${plural(this.changed, 'row')} changed meanwhile: run quoin repair again`)
    }
    const left =
      this.left.total > 0
        ? paint('red', `${plural(this.left.total, 'finding')} cannot be mended here`)
        : paint('green', this.mended.size > 0 ? 'nothing else is wrong' : 'nothing to mend')
    print(`${url}: ${left}`)
  }
}

class Repair {
  readonly #url: string
  readonly #store: Store
  readonly #outcome: Outcome
  readonly #options: RepairOptions
  /** Facts that were mended, by kind and subject: found again, they are left. */
  readonly #facts = new Set<string>()

  constructor(url: string, store: Store, outcome: Outcome, options: RepairOptions) {
    this.#url = url
    this.#store = store
    this.#outcome = outcome
    this.#options = options
  }

  async all(): Promise<void> {
    const { limit, dryRun } = this.#options
    const outcome = this.#outcome
    for (let round = 1; ; round++) {
      const before = sum(outcome.mended)
      outcome.left = new Findings(limit, false)
      outcome.changed = 0
      await this.#round(outcome)
      if (dryRun || sum(outcome.mended) === before || round === ROUNDS) return
    }
  }

  async #round(outcome: Outcome): Promise<void> {
    const { progress, temp, dryRun } = this.#options
    const { OutputStore, repairProof } = await import('@quoin/txo')
    const { storedRoots } = await import('@quoin/chain')
    const { nodeEvents } = await import('../../keyspaces.ts')
    const { tokenLedger } = await import('@quoin/bsv21')
    const outputs = new OutputStore(this.#store, { events: nodeEvents(), ledger: tokenLedger })
    const lookups = await shippedLookups(outputs)
    const mendFact = async ({ proofOf, admission }: Found): Promise<boolean> => {
      if (proofOf) await repairProof(outputs, storedRoots(this.#store), proofOf)
      else await admission!.mend!(outputs, lookups)
      return true
    }
    await ofOneState(this.#url, this.#store, reads =>
      checkFacts(reads, {
        progress,
        report: async found => {
          const { finding } = found
          const name = `${finding.kind} ${finding.subject}`
          const isMendable = found.proofOf !== undefined || found.admission?.mend !== undefined
          if (!isMendable || this.#facts.has(name)) outcome.left.add(finding)
          else if (dryRun || (await attempt(outcome, finding, () => mendFact(found)))) {
            this.#facts.add(name)
            outcome.mend(finding.kind)
          }
        }
      })
    )
    await withTemporaryStore(temp, async rebuilt => {
      const { IndexRepair } = await import('@quoin/txo')
      const mending = new IndexRepair(this.#store, rebuilt)
      await ofOneState(this.#url, this.#store, reads =>
        checkIndex(reads, rebuilt, { progress, report: found => this.#mendIndex(outcome, mending, found) })
      )
      await mending.flush()
      outcome.changed += mending.changed
      for (const [kind, count] of mending.mended) outcome.mend(kind, count)
    })
  }

  async #mendIndex(outcome: Outcome, mending: IndexRepair, { finding, difference }: Found): Promise<void> {
    if (!difference) outcome.left.add(finding)
    else if (this.#options.dryRun) outcome.mend(finding.kind)
    else await mending.mend(difference, finding.kind)
  }
}

/** Faults without a repair are reported with the reason; only a failed store ends the run. */
const attempt = async (
  outcome: Outcome,
  finding: Finding,
  mend: () => Promise<boolean>
): Promise<boolean> => {
  try {
    return await mend()
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    if (error.code === 'ERR_STORE_PRECONDITION') {
      outcome.changed++
      return false
    }
    if (error.code.startsWith('ERR_STORE_') && error.code !== 'ERR_STORE_CORRUPT') throw error
    outcome.left.add({ ...finding, advice: `${error.message} [${error.code}]` })
    return false
  }
}

/** Lookups that describe the events of an output: the built-in ones. */
const shippedLookups = async (outputs: OutputStore): Promise<ReadonlyMap<string, AnyLookup>> => {
  const { tokenLookup } = await import('@quoin/bsv21')
  const { discovery } = await import('@quoin/discovery')
  const { kvstore } = await import('@quoin/kvstore')
  const { installPlugins } = await import('@quoin/overlay')
  const { lookups } = await installPlugins([kvstore, discovery], { outputs })
  return new Map<string, AnyLookup>([...Object.entries(lookups), ['ls_bsv21', tokenLookup(outputs)]])
}

const sum = (counts: ReadonlyMap<unknown, number>): number =>
  [...counts.values()].reduce((total, each) => total + each, 0)
