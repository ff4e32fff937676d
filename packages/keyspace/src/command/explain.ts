/** `keyspace explain`: a raw key, component by component. */
import { fromHex, shortHex, toHex } from '@quoin/primitives'
import { type Colour, EXIT, paint, print, printJson, table } from '@quoin/primitives/command'
import type { Explanation } from '../explain.ts'
import { findKeyspace, type KeyspaceSource } from './source.ts'

export const explain = async (
  load: KeyspaceSource['load'],
  hex: string,
  space: string | undefined,
  json: boolean
): Promise<number> => {
  const key = fromHex(hex.replace(/^0x/i, ''))
  const loaded = await load()
  const spaces = space === undefined ? loaded.storeKeyspaces : [findKeyspace(loaded, space)]
  const explanations = spaces.map(each => each.explain(key))
  const matches = explanations.filter(each => each.found)
  const [nearest] = explanations
    .flatMap(each => (each.found || !each.nearest ? [] : [each.nearest]))
    .sort((a, b) => b.offset - a.offset)
  if (json) {
    printJson({
      key: toHex(key),
      found: matches.length > 0,
      matches: matches.map(({ keyspace, collection, spans }) => ({ keyspace, collection, spans })),
      nearest: matches.length > 0 ? null : (nearest ?? null)
    })
  } else if (matches.length > 0) print(matches.map(explained).join('\n\n'))
  else {
    print(`${shortHex(key) || 'the empty key'} fits nothing.`)
    if (nearest) print(`Nearest: ${nearest.keyspace}.${nearest.collection}: ${nearest.message}.`)
  }
  return matches.length > 0 ? EXIT.ok : EXIT.no
}

const SPAN_COLOURS: readonly Colour[] = ['cyan', 'yellow', 'magenta', 'green', 'blue']

const explained = ({ keyspace, collection, spans }: Explanation & { found: true }): string => {
  const colours = spans.map((span, i) =>
    span.component === undefined ? 'dim' : SPAN_COLOURS[i % SPAN_COLOURS.length]!
  )
  const key = spans.map((span, i) => paint(colours[i]!, span.hex)).join('')
  const rows = spans.map(({ start, end, hex, component = '', codec = 'literal', text }, i) => [
    `  ${start}–${end}`,
    paint(colours[i]!, hex),
    component,
    codec,
    text
  ])
  return `${paint('bold', `${keyspace}.${collection}`)}  ${key}\n${table(rows)}`
}
