/** The JSON Schema of layout files says what the parser takes. The validator here knows the keywords that it uses. */
import { readFileSync } from 'node:fs'
import { QuoinError } from '@quoin/primitives'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { EXAMPLES } from '../../../../apps/explorer/src/playground/examples.ts'
import { STORIES } from '../stories.ts'
import { COMPONENTS } from './components.ts'
import { parseLayout } from './parse.ts'
import { layoutSchema } from './schema.ts'

type Schema = Record<string, unknown>

const root = layoutSchema() as Schema

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const KEYWORDS: Record<string, (given: unknown, value: unknown, schema: Schema) => boolean> = {
  $ref: (name, value) =>
    valid((root['$defs'] as Record<string, Schema>)[String(name).replace('#/$defs/', '')]!, value),
  type: (type, value) =>
    ({
      object: isObject(value),
      array: Array.isArray(value),
      string: typeof value === 'string',
      boolean: typeof value === 'boolean',
      integer: Number.isInteger(value)
    })[String(type)]!,
  anyOf: (options, value) => (options as Schema[]).some(option => valid(option, value)),
  enum: (values, value) => (values as unknown[]).includes(value),
  const: (expected, value) => value === expected,
  minimum: (least, value) => typeof value !== 'number' || value >= (least as number),
  maximum: (most, value) => typeof value !== 'number' || value <= (most as number),
  minLength: (least, value) => typeof value !== 'string' || value.length >= (least as number),
  maxLength: (most, value) => typeof value !== 'string' || value.length <= (most as number),
  pattern: (source, value) => typeof value !== 'string' || new RegExp(String(source), 'u').test(value),
  minItems: (least, value) => !Array.isArray(value) || value.length >= (least as number),
  maxItems: (most, value) => !Array.isArray(value) || value.length <= (most as number),
  uniqueItems: (_, value) => !Array.isArray(value) || new Set(value).size === value.length,
  items: (schema, value) => !Array.isArray(value) || value.every(each => valid(schema as Schema, each)),
  minProperties: (least, value) => !isObject(value) || Object.keys(value).length >= (least as number),
  maxProperties: (most, value) => !isObject(value) || Object.keys(value).length <= (most as number),
  required: (names, value) =>
    !isObject(value) || (names as string[]).every(name => Object.hasOwn(value, name)),
  properties: (fields, value) =>
    !isObject(value) ||
    Object.entries(fields as Record<string, Schema>).every(
      ([name, schema]) => !Object.hasOwn(value, name) || valid(schema, value[name])
    ),
  additionalProperties(rest, value, schema) {
    if (!isObject(value)) return true
    const known = Object.keys((schema['properties'] as object | undefined) ?? {})
    const others = Object.keys(value).filter(name => !known.includes(name))
    return rest === false ? others.length === 0 : others.every(name => valid(rest as Schema, value[name]))
  }
}
const SILENT = ['$schema', '$id', '$defs', 'title', 'description']

const valid = (schema: Schema, value: unknown): boolean =>
  Object.entries(schema).every(([keyword, given]) => {
    if (SILENT.includes(keyword)) return true
    if (!KEYWORDS[keyword]) throw new Error(`the validator does not know ${keyword}`)
    return KEYWORDS[keyword](given, value, schema)
  })

it('is what layout.schema.json has: write it with npm run keyspace:schema', () => {
  const file = readFileSync(new URL('../../layout.schema.json', import.meta.url), 'utf8')
  expect(JSON.parse(file)).toEqual(root)
})

const layout = (key: unknown, scans?: unknown) => ({
  name: 'x',
  collections: [{ name: 'c', key, ...(scans !== undefined && { scans }) }]
})

/** The error of the parser, or undefined. A declaration that no keyword can say is not the schema's to refuse. */
const refusal = (file: unknown): QuoinError | undefined => {
  try {
    parseLayout(JSON.stringify(file))
    return undefined
  } catch (error) {
    if (error instanceof QuoinError) return error
    throw error
  }
}

it('takes the examples of every component, of the playground and of the stories', () => {
  for (const [codec, { examples }] of Object.entries(COMPONENTS)) {
    for (const options of examples) {
      const file = layout([{ [codec]: 'x', ...options, descending: true }])
      expect(valid(root, file), JSON.stringify(file)).toBe(true)
      expect(refusal(file)?.message).toBeUndefined()
    }
  }
  for (const file of [
    ...Object.values(EXAMPLES),
    ...Object.values(STORIES).flatMap(({ broken, mended }) => [broken, mended])
  ])
    expect(valid(root, file)).toBe(true)
})

it('refuses what the parser refuses for its form', () => {
  for (const file of [
    layout([]),
    layout([5]),
    layout([{ u8: '' }]),
    layout([{ u8: 'a', bits: 5 }]),
    layout([{ hex: 'a', length: 1.5 }]),
    layout([{ raw: 'zz' }]),
    layout([{ raw: '01', length: 1 }]),
    layout([{ word: 'a' }]),
    layout([{ enum: 'a', values: {} }]),
    layout([{ fdbTuple: 'a', elements: ['text'] }]),
    layout([{ u8: 'a' }], [{ prefix: ['a'], order: 'up' }]),
    layout([{ u8: 'a' }], [{ get: ['a'], reverse: true }]),
    layout([{ u8: 'a' }], [{ all: true, trailing: false }]),
    layout([{ u8: 'a' }], [{}]),
    { name: 'x' },
    { ...layout(['a']), more: 1 }
  ]) {
    expect(valid(root, file), JSON.stringify(file)).toBe(false)
    expect(refusal(file), JSON.stringify(file)).toMatchObject({ code: 'ERR_AUDIT_FORMAT' })
  }
})

it('never refuses a random file that the parser takes', () => {
  const option = fc.constantFrom(
    'length',
    'min',
    'max',
    'bits',
    'except',
    'style',
    'upper',
    'words',
    'of',
    'descending',
    'endian'
  )
  const setting = fc.oneof(
    fc.integer({ min: -1, max: 600 }),
    fc.boolean(),
    fc.constantFrom('9', '-3', '', ':', 'fdb', 'doubling', 'big', '00'),
    fc.constantFrom([], ['a'], ['a', 'b'], [{ u8: 'n' }], { u8: 'n' })
  )
  const part = fc.oneof(
    fc.constantFrom('a', ':', '', { raw: '00' }, { $comment: 'x' }),
    fc
      .tuple(fc.constantFrom(...Object.keys(COMPONENTS)), fc.dictionary(option, setting, { maxKeys: 2 }))
      .map(([codec, options]) => ({ [codec]: 'x', ...options }))
  )
  const scan = fc.constantFrom(
    [],
    ['x'],
    { prefix: ['x'], order: 'value' },
    { prefix: [], from: ['x'] },
    { all: true },
    { get: ['x'] },
    { prefix: [], seek: 'ff', reverse: true },
    { prefix: [], seek: 'ff' }
  )
  const seen = { taken: 0, refused: 0 }
  fc.assert(
    fc.property(fc.array(part, { maxLength: 3 }), fc.array(scan, { maxLength: 2 }), (key, scans) => {
      const file = layout(key, scans)
      if (refusal(file)) seen.refused++
      else {
        seen.taken++
        expect(valid(root, file), JSON.stringify(file)).toBe(true)
      }
    }),
    { numRuns: 500 }
  )
  expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(50)
})

it('docs/audit.md describes every component with its options', () => {
  const page = readFileSync(new URL('../../../../docs/audit.md', import.meta.url), 'utf8')
  for (const [codec, { about, options, required = [] }] of Object.entries(COMPONENTS)) {
    if (/^[ui]\d+(be|le)?$/.test(codec)) continue
    const shown = options.map(option => (required.includes(option) ? `**${option}**` : option))
    expect(page).toContain(`| \`${codec}\` | ${about} | ${shown.join(', ')} |`)
  }
})
