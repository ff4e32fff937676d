/** The content that a pointer leads to. */
import { formatTxid, makeOutpoint, type Outpoint, QuoinError } from '@quoin/primitives'
import {
  type Content,
  LATEST,
  ORIGIN,
  type OrdinalWalk,
  originOf,
  readContent,
  resolveOrdinal
} from '@quoin/txo'
import { type Pointer, parsePointer } from './pointer.ts'

export interface ResolvedContent {
  /** The output that was asked for; with a sequence number the one that has it. */
  readonly outpoint: Outpoint
  readonly origin: Outpoint | undefined
  readonly sequence: number
  /** The output whose script holds the content; undefined for an output with metadata alone. */
  readonly holder: Outpoint | undefined
  readonly content: Content | undefined
  readonly map: Readonly<Record<string, string>> | undefined
  readonly parent: Outpoint | undefined
  /** `settled`: fixed by transactions. `followed`: by spends as they are. `latest`: of an ordinal that may move. */
  readonly permanence: 'settled' | 'followed' | 'latest'
}

export const resolveContent = async (walk: OrdinalWalk, text: string): Promise<ResolvedContent> => {
  const pointer = parsePointer(text)
  const outpoint = await outputOf(walk, pointer)
  const output = outpoint && (await walk.output(outpoint))
  if (!output) throw missing(`the output ${text.slice(0, 80)} is not stored, or has no content`)
  const { sequence } = pointer
  if (sequence === undefined || output.satoshis !== 1) {
    return found({ outpoint, ...readHolder(outpoint, output.script), permanence: 'settled' })
  }
  if (sequence === ORIGIN) {
    const origin = await originOf(walk, outpoint)
    const { script } = (await walk.output(origin))!
    return found({ outpoint, origin, ...readHolder(origin, script), permanence: 'settled' })
  }
  const ordinal = await resolveOrdinal(walk, outpoint, sequence)
  const holder = ordinal.content && (await walk.output(ordinal.content))
  return found({
    ...ordinal,
    holder: ordinal.content,
    content: holder && readContent(holder.script).content,
    permanence: sequence === LATEST ? 'latest' : ordinal.isSettled ? 'settled' : 'followed'
  })
}

/** The output of a pointer; of a txid the first output with content. */
const outputOf = async (walk: OrdinalWalk, { txid, outpoint }: Pointer): Promise<Outpoint | undefined> => {
  if (!txid) return outpoint
  const transaction = await walk.transaction(txid)
  if (!transaction) throw missing(`transaction ${formatTxid(txid)} is not stored`)
  const vout = transaction.outputs.findIndex(({ script }) => readContent(script).content)
  return vout < 0 ? undefined : makeOutpoint(txid, vout)
}

const readHolder = (outpoint: Outpoint, script: Uint8Array) => {
  const read = readContent(script)
  return { ...read, holder: read.content && outpoint }
}

const found = (
  resolved: Omit<ResolvedContent, 'origin' | 'sequence'> &
    Partial<Pick<ResolvedContent, 'origin' | 'sequence'>>
): ResolvedContent => {
  if (!resolved.content && !resolved.map) throw missing('the output has no content')
  return { origin: undefined, sequence: 0, ...resolved }
}

const missing = (message: string): QuoinError => new QuoinError('ERR_NOT_FOUND', message)

/** Fields of MAP that are JSON in text. */
const PARSED = ['subTypeData', 'royalties']

/** MAP as JSON: fields that are JSON in text are parsed where they can be. */
export const mapJson = (map: Readonly<Record<string, string>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(map).map(([key, value]) => [key, PARSED.includes(key) ? parsed(value) : value])
  )

const parsed = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : text
  } catch {
    return text
  }
}
