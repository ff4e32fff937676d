/** `quoin liquidity diff`: the rows in which two states differ, with their keys and values explained. */
import { toHex } from '@quoin/primitives'
import { EXIT, paint, plural, print, printJson } from '@quoin/primitives/command'
import type { Profile, RowDifference } from '../index.ts'
import { liquidity, parseLimit, take } from './arguments.ts'

export interface DiffOptions {
  readonly limit: string
  readonly json?: boolean
}

interface ExplainedDifference {
  readonly key: string
  readonly collection: string
  /** The components of the key. */
  readonly of: Readonly<Record<string, string>>
  readonly before: unknown
  readonly after: unknown
}

export const diff = async (first: string, second: string, options: DiffOptions): Promise<number> => {
  const { openStore, readOnlyUrl } = await import('@quoin/store')
  const limit = parseLimit(options.limit)
  const open = (url: string) => openStore(readOnlyUrl(url), { create: false })
  const before = await open(first)
  try {
    const after = await open(second)
    try {
      const { Liquidity, stateDifferences } = await liquidity()
      const { profile } = await Liquidity.open(before)
      await Liquidity.open(after)
      const { taken, more } = await before.snapshot(a =>
        after.snapshot(b => take(stateDifferences(a, b), limit))
      )
      const differences = await Promise.all(taken.map(each => explained(each, profile)))
      if (options.json) printJson({ same: taken.length === 0, differences, more })
      else printed(differences, more)
      return taken.length === 0 ? EXIT.ok : EXIT.no
    } finally {
      await after.close()
    }
  } finally {
    await before.close()
  }
}

const explained = async (
  { key, before, after }: RowDifference,
  profile: Profile
): Promise<ExplainedDifference> => {
  const { explainEntry } = await liquidity()
  const entryOf = (value: Uint8Array | undefined) => {
    const explanation = explainEntry(key, value, profile)
    // Rows of auxiliary keyspaces do not belong to the profile, and their values are text or numbers.
    return explanation.found ? explanation.entry : undefined
  }
  const shown = (value: Uint8Array | undefined): unknown =>
    value === undefined ? null : (entryOf(value)?.value ?? toHex(value))
  const entry = entryOf(undefined)
  const components = (entry?.spans ?? []).flatMap(({ component, text }) =>
    component === undefined ? [] : [[component, text] as const]
  )
  return {
    key: toHex(key),
    collection: entry?.collection ?? 'auxiliary',
    of: Object.fromEntries(components),
    before: shown(before),
    after: shown(after)
  }
}

const printed = (differences: readonly ExplainedDifference[], more: boolean): void => {
  for (const { key, collection, of, before, after } of differences) {
    const names = Object.entries(of).map(([name, text]) => `${name} ${text}`)
    print(`${paint('bold', collection)} ${names.join(', ') || key}`)
    if (before === null) print('  only in the second')
    else if (after === null) print('  only in the first')
    else for (const [field, from, to] of changedFields(before, after)) print(`  ${field}: ${from} -> ${to}`)
  }
  if (differences.length === 0) print(paint('green', 'the states are the same'))
  else print(paint('red', `${plural(differences.length, 'difference')}${more ? ', and more' : ''}`))
}

/** The fields of two values that differ, as text. */
const changedFields = (before: unknown, after: unknown): [field: string, from: string, to: string][] => {
  if (!isRecord(before) || !isRecord(after)) return [['value', text(before), text(after)]]
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((field): [string, string, string] => [field, text(before[field]), text(after[field])])
    .filter(([, from, to]) => from !== to)
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const text = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing')
