/** Layout files from disk: JSON or YAML, with the files that they refer to. */
import { closeSync, openSync, readSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { QuoinError, reasonOf } from '@quoin/primitives'
import { type DocumentLoader, resolveDocument } from '../file/document.ts'
import { malformed } from '../file/errors.ts'
import { parseJson } from '../file/json.ts'
import { type LayoutComponents, type LayoutFile, layoutOf } from '../file/parse.ts'

/** The limit on the size of all files together: 1,000 collections need about a tenth of it. */
const MAX_BYTES = 4 * 1024 * 1024
const MAX_FILES = 100

export interface LoadedLayout extends LayoutFile {
  /** The paths of the layout file and of the files that its `$ref`s name. */
  readonly files: readonly string[]
}

type Content = ReturnType<DocumentLoader['load']>['content']

export const loadLayout = (file: string, components?: LayoutComponents): LoadedLayout => {
  const files = new Map<string, Content>()
  let bytes = 0
  const read = (name: string): Content => {
    const known = files.get(name)
    if (known) return known
    if (files.size >= MAX_FILES) throw refused(name, `a layout has at most ${MAX_FILES} files`)
    const text = readText(name, MAX_BYTES - bytes)
    bytes += text.length
    const content = isYaml(name, text) ? parseYaml(text, name) : { text, ...parseJson(text) }
    files.set(name, content)
    return content
  }
  const loader: DocumentLoader = {
    file,
    load(reference, from) {
      const name = from === '-' ? reference : join(dirname(from), reference)
      return { file: name, content: read(name) }
    }
  }
  const { value, locate } = resolveDocument(read(file), loader)
  return { ...layoutOf(value, components), locate, files: [...files.keys()] }
}

/** By its name; of standard input, by a beginning that no JSON has. */
const isYaml = (file: string, text: string): boolean =>
  file === '-' ? /^\s*[^\s{[/"]/.test(text) : /\.ya?ml$/i.test(file)

const parseYaml = (text: string, file: string): Content => {
  // Loaded for files that need it: it takes as long as the rest of the command.
  const { isMap, isScalar, isSeq, LineCounter, parseDocument } = createRequire(import.meta.url)(
    'yaml'
  ) as typeof import('yaml')
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, schema: 'core' })
  const [error] = document.errors
  if (error) throw malformed('$', `${file} is not YAML: ${error.message}`, error)
  const offsets = new Map<string, number>()
  const visit = (node: unknown, path: string): void => {
    if (isScalar(node) || isMap(node) || isSeq(node)) offsets.set(path, node.range?.[0] ?? 0)
    if (isMap(node)) {
      for (const { key, value } of node.items)
        visit(value, `${path}.${isScalar(key) ? String(key.value) : ''}`)
    } else if (isSeq(node)) {
      node.items.forEach((item, i) => {
        visit(item, `${path}[${i}]`)
      })
    }
  }
  visit(document.contents, '$')
  try {
    // Aliases multiply the length of a file; a layout needs few.
    return { text, value: document.toJS({ maxAliasCount: 100 }), offsets }
  } catch (cause) {
    throw malformed('$', `${file} is not a layout: ${reasonOf(cause)}`, cause)
  }
}

const refused = (file: string, reason: string, cause?: unknown): QuoinError =>
  new QuoinError('ERR_FILE', `cannot read ${file}: ${reason}`, { file, cause })

const readText = (file: string, most: number): string => {
  let bytes: Uint8Array
  try {
    bytes = readAtMost(file, most + 1)
  } catch (error) {
    throw refused(file, reasonOf(error), error)
  }
  if (bytes.length > most) throw refused(file, `a layout has at most ${MAX_BYTES} bytes`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw refused(file, 'it is not UTF-8', error)
  }
}

/** Reads the first bytes of a file, or of standard input for `-`. */
const readAtMost = (file: string, most: number): Uint8Array => {
  const descriptor = file === '-' ? 0 : openSync(file, 'r')
  try {
    const bytes = new Uint8Array(most)
    let length = 0
    while (length < most) {
      const read = readSync(descriptor, bytes, length, most - length, null)
      if (read === 0) break
      length += read
    }
    return bytes.subarray(0, length)
  } finally {
    if (descriptor !== 0) closeSync(descriptor)
  }
}
