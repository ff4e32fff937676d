/** `quoin lookup`: asks a lookup service of a node, and prints the outputs. */
import { Beef } from '@quoin/chain'
import { formatTxid, QuoinError, toHex } from '@quoin/primitives'
import { count, EXIT, paint, plural, print, printJson, table } from '@quoin/primitives/command'
import { askJson } from './http.ts'

interface LookupAnswer {
  readonly outputs: readonly {
    readonly beef: readonly number[]
    readonly outputIndex: number
    readonly context?: readonly number[]
  }[]
}

export const lookup = async (service: string, query: string, url: string, json: boolean): Promise<number> => {
  const { outputs } = await askJson<LookupAnswer>(url, '/lookup', { service, query: parsed(query) })
  const found = outputs.map(({ beef: numbers, outputIndex: vout, context }) => {
    const bytes = Uint8Array.from(numbers)
    const beef = Beef.parse(bytes)
    const output = beef.find(beef.subject)?.transaction?.outputs[vout]
    return {
      outpoint: `${formatTxid(beef.subject)}.${vout}`,
      satoshis: output?.satoshis ?? null,
      script: output ? toHex(output.script) : null,
      ...(context && { context: toHex(Uint8Array.from(context)) }),
      beef: toHex(bytes)
    }
  })
  if (json) printJson({ service, outputs: found })
  else {
    if (found.length > 0)
      print(table(found.map(({ outpoint, satoshis, script }) => [outpoint, coins(satoshis), short(script)])))
    print(paint(found.length > 0 ? 'green' : 'yellow', `${plural(found.length, 'output')} found`))
  }
  return found.length > 0 ? EXIT.ok : EXIT.no
}

const coins = (satoshis: number | null): string =>
  satoshis === null ? '' : plural(satoshis, 'satoshi').replace(/^\d+/, n => count(Number(n)))
const short = (script: string | null): string =>
  script && script.length > 40 ? `${script.slice(0, 40)}…` : (script ?? '')

const parsed = (query: string): unknown => {
  try {
    return JSON.parse(query)
  } catch {
    throw new QuoinError(
      'ERR_USAGE',
      `the query is JSON, for example '{"limit": 10}' or '"text"', not ${query}`,
      {
        query
      }
    )
  }
}
