/**
 * JSON with comments (`//` and between slash-asterisks), and the offset of each value in the text, by its path. Strict
 * otherwise: a name twice in an object, a trailing comma and anything after the value are refused.
 */
import { malformed } from './errors.ts'

export interface JsonText {
  readonly value: unknown
  /** The offset of each value by its path: `$.collections[0].key`. */
  readonly offsets: ReadonlyMap<string, number>
}

const MAX_DEPTH = 64
const SPACE = /(?:[ \t\r\n]+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has none in its strings.
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const WORDS: Readonly<Record<string, unknown>> = { true: true, false: false, null: null }

export const parseJson = (text: string): JsonText => {
  const offsets = new Map<string, number>()
  let at = 0
  const match = (expression: RegExp): string | undefined => {
    expression.lastIndex = at
    const found = expression.exec(text)?.[0]
    if (found !== undefined) at += found.length
    return found
  }
  const refuse = (expected: string): never => {
    const { line, column } = placeOf(text, at)
    const found = at < text.length ? JSON.stringify(text[at]) : 'the end'
    throw malformed('$', `not JSON: ${found} at ${line}:${column}, where ${expected} must stand`)
  }
  const take = (char: string): boolean => {
    match(SPACE)
    if (text[at] !== char) return false
    at++
    return true
  }
  const string = (expected: string): string => {
    match(SPACE)
    const found = match(STRING)
    return found === undefined ? refuse(expected) : (JSON.parse(found) as string)
  }
  const value = (path: string, depth: number): unknown => {
    if (depth > MAX_DEPTH) throw malformed('$', `not JSON: more than ${MAX_DEPTH} values within each other`)
    match(SPACE)
    offsets.set(path, at)
    const char = text[at]
    if (char === '{') return object(path, depth)
    if (char === '[') return list(path, depth)
    if (char === '"') return string('a string')
    const number = match(NUMBER)
    if (number !== undefined) return Number(number)
    const word = Object.keys(WORDS).find(each => text.startsWith(each, at))
    if (word === undefined) return refuse('a value')
    at += word.length
    return WORDS[word]
  }
  const object = (path: string, depth: number): Record<string, unknown> => {
    at++
    const fields: Record<string, unknown> = {}
    if (take('}')) return fields
    do {
      const name = string('a name')
      if (Object.hasOwn(fields, name)) throw malformed(`${path}.${name}`, 'the name is twice in the object')
      if (!take(':')) refuse('a colon')
      Object.defineProperty(fields, name, {
        value: value(`${path}.${name}`, depth + 1),
        enumerable: true,
        configurable: true,
        writable: true
      })
    } while (take(','))
    if (!take('}')) refuse('a comma or }')
    return fields
  }
  const list = (path: string, depth: number): unknown[] => {
    at++
    const items: unknown[] = []
    if (take(']')) return items
    do items.push(value(`${path}[${items.length}]`, depth + 1))
    while (take(','))
    if (!take(']')) refuse('a comma or ]')
    return items
  }
  const whole = value('$', 0)
  match(SPACE)
  if (at < text.length) refuse('the end')
  return { value: whole, offsets }
}

/** The line and column of an offset, both from 1. */
export const placeOf = (text: string, offset: number): { readonly line: number; readonly column: number } => {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: before.at(-1)!.length + 1 }
}
