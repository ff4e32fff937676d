/** `quoin liquidity import` and `export`: a state export of a chain, or raw keys and values of a node. */
import { QuoinError } from '@quoin/primitives'
import { count, EXIT, paint, plural, print, printJson } from '@quoin/primitives/command'
import type { Encoding, LoadProgress, Schema } from '../index.ts'
import { liquidity, parseProfile } from './arguments.ts'
import { InputFile } from './input-file.ts'
import { ProgressPrinter } from './progress.ts'

export interface ImportOptions {
  readonly store: string
  readonly format?: string
  readonly encoding?: string
  readonly profile?: string
  readonly progress?: boolean
  readonly json?: boolean
}

export interface ExportOptions {
  readonly store: string
  readonly format?: string
  readonly encoding: string
  readonly schema: string
}

const oneOf = <T extends string>(name: string, given: string, allowed: readonly T[]): T => {
  if (!(allowed as readonly string[]).includes(given))
    throw new QuoinError('ERR_USAGE', `--${name} is ${allowed.join(' or ')}, not ${given}`)
  return given as T
}

const FORMATS = ['genesis', 'raw'] as const
type Format = (typeof FORMATS)[number]
const ENCODINGS: readonly Encoding[] = ['hex', 'base64']
const SCHEMAS: readonly Schema[] = ['today', '2023']

/** The given format, or that of the content; for an empty file that of its name. */
const formatOf = (file: string, given: string | undefined, found: Format | undefined): Format => {
  if (given !== undefined) return oneOf('format', given, FORMATS)
  return found ?? (/\.(?:ndjson|jsonl)(?:\.gz)?$/.test(file) ? 'raw' : 'genesis')
}

export const importState = async (file: string, options: ImportOptions): Promise<number> => {
  const { importGenesis, importRaw, peekFormat } = await liquidity()
  const { openStore } = await import('@quoin/store')
  const encoding = options.encoding === undefined ? undefined : oneOf('encoding', options.encoding, ENCODINGS)
  const input = new InputFile(file)
  const isTerminal = process.stderr.isTTY === true
  const progress =
    options.progress || (isTerminal && !options.json)
      ? new ProgressPrinter({
          write: text => process.stderr.write(text),
          isTerminal,
          fraction: () => input.fraction()
        })
      : undefined
  const load = {
    profile: parseProfile(options.profile),
    onProgress: (each: LoadProgress) => progress?.update(each)
  }
  const { format: found, source } = await peekFormat(input.content())
  const format = formatOf(file, options.format, found)
  const store = await openStore(options.store)
  try {
    const report =
      format === 'raw'
        ? await importRaw(store, source, { ...load, encoding })
        : await importGenesis(store, source, load)
    progress?.end()
    if (options.json) printJson(report)
    else {
      print(
        `${plural(report.pools, 'pool')}, ${count(report.ticks)} ticks, ${count(report.positions)} positions, under the profile ${report.profile}`
      )
      for (const { collection, key, given, derived } of report.drift)
        print(
          `${paint('yellow', 'drifted')}  ${collection} ${key}: ${given} was given, the positions make ${derived}`
        )
    }
    return EXIT.ok
  } finally {
    await store.close()
  }
}

export const exportState = async (options: ExportOptions): Promise<number> => {
  const { exportGenesis, exportRaw, Liquidity } = await liquidity()
  const { openStore, readOnlyUrl } = await import('@quoin/store')
  const format = oneOf('format', options.format ?? 'genesis', FORMATS)
  const encoding = oneOf('encoding', options.encoding, ENCODINGS)
  const schema = oneOf('schema', options.schema, SCHEMAS)
  const store = await openStore(readOnlyUrl(options.store), { create: false })
  try {
    const state = await Liquidity.open(store)
    // All rows are of one snapshot, beside any writer.
    if (format === 'raw') await store.snapshot(reads => printed(exportRaw(reads, { encoding })))
    else await state.snapshot(reader => printed(exportGenesis(reader, { schema })))
    return EXIT.ok
  } finally {
    await store.close()
  }
}

const printed = async (pieces: AsyncIterable<string>): Promise<void> => {
  for await (const piece of pieces) await written(piece)
}

/** Writes at the speed of the reader. */
const written = (piece: string): Promise<void> | undefined => {
  if (process.stdout.write(piece)) return undefined
  return new Promise(resolve => process.stdout.once('drain', resolve))
}
