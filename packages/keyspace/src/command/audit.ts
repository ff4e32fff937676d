/** `keyspace audit`: proves a layout from a file, repairs it, teaches the properties. */
import { type FSWatcher, readFileSync, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import { QuoinError } from '@quoin/primitives'
import { EXIT, paint, plural, print, printJson } from '@quoin/primitives/command'
import { type AuditReport, auditLayout } from '../audit.ts'
import type { LayoutComponents } from '../file/parse.ts'
import type { Finding, Property } from '../proof/findings.ts'
import { PROPERTIES } from '../proof/prove.ts'
import { repairLayout } from '../repair/repair.ts'
import { asText } from './as-text.ts'
import { type LoadedLayout, loadLayout } from './load.ts'
import { sarifOf } from './sarif.ts'
import { explainProperty } from './story.ts'
import { witnessLines } from './witness.ts'

export interface AuditCommandOptions {
  readonly json?: boolean
  readonly fix?: boolean
  readonly sarif?: boolean
  readonly watch?: boolean
  /** The property to explain, instead of an audit. */
  readonly explain?: string
  /** Ends a watch. */
  readonly signal?: AbortSignal
}

/** The limit on findings in the text; `--json` prints all. */
const MAX_PRINTED = 20

export const audit = (
  file: string | undefined,
  components: LayoutComponents | undefined,
  options: AuditCommandOptions
): number | Promise<number> => {
  const { explain, json = false, fix = false, sarif = false } = options
  if (explain !== undefined) {
    print(explainProperty(propertyOf(explain)))
    return EXIT.ok
  }
  if (file === undefined)
    throw new QuoinError('ERR_USAGE', 'missing argument: the file of a layout, or - for standard input')
  if ([json, fix, sarif].filter(Boolean).length > 1)
    throw new QuoinError('ERR_USAGE', 'choose one of --json, --fix and --sarif')
  const once = (): { readonly code: number; readonly files: readonly string[] } => {
    const layout = loadLayout(file, components)
    const report = auditLayout(layout, components ? { components } : {})
    if (sarif) printJson(sarifOf([{ file, report, locate: layout.locate }], version()))
    else if (json) printJson(withPlaces(report, layout, file))
    else if (fix) printRepair(layout, report, components)
    else printReport(report, layout, file)
    const isUndecided = report.findings.length === 0 && report.undecided.length > 0
    return { code: report.sound ? EXIT.ok : isUndecided ? EXIT.usage : EXIT.no, files: layout.files }
  }
  return options.watch ? watching(file, once, options.signal) : once().code
}

const propertyOf = (given: string): Property => {
  const property = given.toUpperCase()
  if (Object.hasOwn(PROPERTIES, property)) return property as Property
  throw new QuoinError('ERR_USAGE', `unknown property ${given}; known: ${Object.keys(PROPERTIES).join(', ')}`)
}

const version = (): string =>
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version

/** `layout.json:12:7` of the collection, or of the scan, that a finding is about. */
const placeOf = (finding: Finding, report: AuditReport, { locate }: LoadedLayout, file: string): string => {
  const at = report.collections.findIndex(({ name }) => name === finding.collections[0])
  const scan = finding.scanIndex === undefined ? '' : `.scans[${finding.scanIndex}]`
  const place = locate(`$.collections[${at}]${scan}`)
  return place ? `${place.file || file}:${place.line}:${place.column}` : file
}

const withPlaces = (report: AuditReport, layout: LoadedLayout, file: string): object => ({
  ...report,
  findings: report.findings.map(finding => ({ ...finding, place: placeOf(finding, report, layout, file) }))
})

const printReport = (report: AuditReport, layout: LoadedLayout, file: string): void => {
  for (const { name, key, sound, order } of report.collections) {
    print(`${verdict(sound)}  ${paint('bold', name)}  ${key}`)
    if (order) print(`         ${paint('dim', `walks by ${order}`)}`)
  }
  const { checked, overlapping } = report.pairs
  print(`${verdict(overlapping.length === 0)}  ${plural(checked, 'pair')}, ${overlapping.length} overlap`)
  for (const finding of report.findings.slice(0, MAX_PRINTED)) {
    const { property, message, remedies = [] } = finding
    print(
      `\n${paint('red', property)} ${PROPERTIES[property]}  ${paint('dim', placeOf(finding, report, layout, file))}`
    )
    print(`  ${message}\n`)
    for (const line of witnessLines(finding)) print(line)
    for (const { remedy, change, works } of remedies) {
      print(`  ${works ? paint('green', 'works') : paint('dim', 'fails')}  ${remedy}: ${change}`)
    }
  }
  const found = report.findings.length
  if (found > MAX_PRINTED) print(`\n… and ${found - MAX_PRINTED} more (--json prints all)`)
  for (const { property, decisions, collections } of report.undecided) {
    const of = collections.length > 0 ? `, of ${collections.join(', ')}` : ''
    print(
      `\n${property}: ${plural(decisions, 'decision')} not made${of}${decisions > collections.length ? ' …' : ''}`
    )
  }
  print(`\n${report.name}: ${summary(report)}`)
  if (found > 0)
    print(
      paint('dim', `--fix prints a repaired layout, --explain ${report.findings[0]!.property} the property`)
    )
}

const summary = ({ sound, findings, undecided }: AuditReport): string => {
  if (sound) return paint('green', 'sound')
  if (findings.length > 0) return paint('red', `unsound, ${plural(findings.length, 'finding')}`)
  return paint(
    'yellow',
    `not proved, ${plural(
      undecided.reduce((sum, { decisions }) => sum + decisions, 0),
      'decision'
    )} not made (ERR_KEYSPACE_TOO_LARGE)`
  )
}

const verdict = (sound: boolean): string => (sound ? paint('green', 'sound  ') : paint('red', 'unsound'))

/** The repaired layout on standard output, so that it can be redirected; the changes on standard error. */
const printRepair = (
  layout: LoadedLayout,
  report: AuditReport,
  components: LayoutComponents | undefined
): void => {
  const repair = repairLayout({ ...layout, ...(components && { components }) }, report.findings)
  print(asText(repair.layout))
  const lines = [
    ...repair.changes.map(change => `changed: ${change}`),
    ...repair.remaining.map(({ property, message }) => `left: ${property} ${message}`),
    repair.sound
      ? repair.changes.length === 0
        ? 'the layout is sound'
        : 'the printed layout is proved sound'
      : `the printed layout is unsound: no known remedy works against ${plural(repair.remaining.length, 'finding')}`
  ]
  process.stderr.write(`${lines.join('\n')}\n`)
}

/** Audits at each change of the file or of one that it refers to, until the process is interrupted. */
const watching = async (
  file: string,
  once: () => { readonly code: number; readonly files: readonly string[] },
  signal: AbortSignal | undefined
): Promise<number> => {
  if (file === '-') throw new QuoinError('ERR_USAGE', 'standard input cannot be watched')
  let files: readonly string[] = [file]
  let code: number = EXIT.usage
  const run = (): void => {
    try {
      ;({ code, files } = once())
    } catch (error) {
      // A file that is being edited is malformed between two changes.
      if (!(error instanceof QuoinError)) throw error
      code = EXIT.usage
      print(`${error.message} [${error.code}]`)
    }
  }
  const watchers = new Map<string, FSWatcher>()
  let timer: NodeJS.Timeout | undefined
  const watchFolders = (): void => {
    for (const folder of new Set(files.map(dirname))) {
      if (watchers.has(folder)) continue
      // Folders are watched, since editors replace files.
      const watcher = watch(folder, (_, name) => {
        if (name !== null && !files.some(each => dirname(each) === folder && basename(each) === name)) return
        clearTimeout(timer)
        timer = setTimeout(again, SETTLE_MS)
      })
      watchers.set(folder, watcher)
    }
  }
  const again = (): void => {
    print('')
    run()
    watchFolders()
  }
  run()
  watchFolders()
  await new Promise<void>(resolve => {
    process.once('SIGINT', resolve)
    signal?.addEventListener('abort', () => resolve(), { once: true })
  })
  clearTimeout(timer)
  for (const watcher of watchers.values()) watcher.close()
  return code
}

/** One save is several events. */
const SETTLE_MS = 50
