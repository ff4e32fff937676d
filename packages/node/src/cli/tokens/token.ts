/** `quoin token`: one token, as a node knows it. */
import { QuoinError } from '@quoin/primitives'
import { count, EXIT, paint, print, printJson, table } from '@quoin/primitives/command'
import { ask, askJson } from '../node/http.ts'
import { shownAmount, shownSymbol } from './token-text.ts'

interface Details {
  readonly token: {
    readonly id: string
    readonly op: string
    readonly amt: string
    readonly sym?: string
    readonly dec: number
    readonly icon?: string
    readonly encoding: 'json' | 'binary'
  }
}
interface Supply {
  readonly minted: string
  readonly supply: string
  readonly burned: string
  readonly listed: string
  readonly ltm: string
  readonly pow20: string
  readonly holders: number
  readonly listings: number
}
interface Status {
  readonly is_active: boolean
  readonly reason: string
  readonly balance: number
  readonly fee_address: string
  readonly output_count: number
  readonly queue: Readonly<Record<'due' | 'leased' | 'waiting' | 'dead', number>>
  /** Absent in answers of nodes of version 0.1. */
  readonly completeness?: {
    readonly complete: boolean
    readonly height: number | null
    readonly sources: readonly { readonly name: string; readonly at: number | null }[]
  }
}
interface Holders {
  readonly holders: readonly { readonly address: string; readonly amount: string }[]
}

export const showToken = async (id: string, holders: string, url: string, json: boolean): Promise<number> => {
  if (!/^[0-9a-fA-F]{64}[._:i](0|[1-9][0-9]{0,9})$/.test(id)) {
    throw new QuoinError('ERR_USAGE', `a token id is txid_vout, not ${id}`)
  }
  if (!/^[1-9][0-9]{0,2}$/.test(holders)) {
    throw new QuoinError('ERR_USAGE', `--holders is a whole number from 1 to 999, not ${holders}`)
  }
  const path = `/1sat/bsv21/${id}`
  if ((await ask(url, path)).status === 404) {
    if (json) printJson({ id, found: false })
    else print(`No deployment of ${id} is known at ${url}.`)
    return EXIT.no
  }
  const [{ token }, supply, status, { holders: most }] = await Promise.all([
    askJson<Details>(url, path),
    askJson<Supply>(url, `${path}/supply`),
    askJson<Status>(url, `${path}/status`),
    askJson<Holders>(url, `${path}/holders?limit=${holders}`)
  ])
  if (json) printJson({ id, found: true, token, supply, status, holders: most })
  else report(token, supply, status, most)
  return EXIT.ok
}

const deploymentText = ({ op, amt, encoding }: Details['token'], shown: (amount: string) => string): string =>
  `${op}${op === 'deploy+mint' ? ` of ${shown(amt)}` : ''}${encoding === 'binary' ? ', binary (BRC-162)' : ''}`

const completenessLine = ({ complete, height, sources }: NonNullable<Status['completeness']>): string => {
  const places = [
    ...(height === null ? [] : [`block ${count(height)}`]),
    ...sources.map(({ name, at }) => `${name} at ${at === null ? 'its beginning' : count(at)}`)
  ]
  const asOf = places.length === 0 ? '' : ` as of ${places.join(', ')}`
  return `${complete ? 'yes' : 'no: work is pending, or a source is behind'},${asOf}`.replace(/,$/, '')
}

const report = (
  token: Details['token'],
  supply: Supply,
  status: Status,
  holders: Holders['holders']
): void => {
  const shown = (amount: string): string => shownAmount(amount, token.dec)
  const active = status.is_active ? paint('green', 'indexed') : paint('red', 'not indexed')
  print(`${paint('bold', shownSymbol(token.sym))} ${token.id}: ${active}, ${status.reason}`)
  const { due, leased, waiting, dead } = status.queue
  print(
    table([
      ['  deployed', deploymentText(token, shown)],
      ['  decimals', String(token.dec)],
      ['  supply', shown(supply.supply)],
      ['  minted', shown(supply.minted)],
      ['  burned', shown(supply.burned)],
      ['  for sale', `${shown(supply.listed)} in ${count(supply.listings)}`],
      ...(supply.ltm === '0' ? [] : [['  to lock for', shown(supply.ltm)]]),
      ...(supply.pow20 === '0' ? [] : [['  to work for', shown(supply.pow20)]]),
      ['  outputs', count(status.output_count)],
      [
        '  to do',
        `due ${count(due)}, leased ${count(leased)}, waiting ${count(waiting)}, dead ${count(dead)}`
      ],
      ...(status.completeness ? [['  complete', completenessLine(status.completeness)]] : []),
      ...(status.fee_address === ''
        ? []
        : [['  pay to', `${status.fee_address}, balance ${status.balance}`]]),
      ['  holders', count(supply.holders)]
    ])
  )
  if (holders.length > 0)
    print(table(holders.map(({ address, amount }) => [`    ${address}`, shown(amount)])))
}
