/** `quoin tokens`: the tokens that a node knows. */
import { QuoinError } from '@quoin/primitives'
import { EXIT, print, printJson, table } from '@quoin/primitives/command'
import { askJson } from '../node/http.ts'
import { shownAmount, shownSymbol } from './token-text.ts'

interface Page {
  readonly tokens: readonly {
    readonly id: string
    readonly op: string
    readonly amt: string
    readonly sym?: string
    readonly dec: number
  }[]
  readonly cursor: string | null
}

export const listTokens = async (
  { sym, limit }: { readonly sym?: string; readonly limit: string },
  url: string,
  json: boolean
): Promise<number> => {
  if (!/^([1-9][0-9]{0,2}|1000)$/.test(limit)) {
    throw new QuoinError('ERR_USAGE', `--limit is a whole number from 1 to 1000, not ${limit}`)
  }
  const query = new URLSearchParams({ limit, ...(sym !== undefined && { sym }) })
  const { tokens, cursor } = await askJson<Page>(url, `/1sat/bsv21/tokens?${query}`)
  if (json) printJson({ tokens, cursor })
  else if (tokens.length === 0) print('No tokens.')
  else {
    const rows = tokens.map(token => [
      token.id,
      shownSymbol(token.sym),
      token.op === 'deploy+mint' ? shownAmount(token.amt, token.dec) : token.op
    ])
    print(table(rows))
    if (cursor !== null) print('There are more: --limit shows up to 1000, --sym those of a symbol.')
  }
  return EXIT.ok
}
