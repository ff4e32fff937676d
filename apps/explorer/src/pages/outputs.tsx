/** A list of outputs, in pages. */
import { ask } from '../api/client.ts'
import { type Page, usePages } from '../api/load.ts'
import type { Output } from '../api/types.ts'
import { List } from '../parts/layout.tsx'
import { Badge, Chips, notable, Outpoint, Satoshis, Txid, When } from '../parts/names.tsx'
import { Meaning } from './meaning.tsx'

const INCLUDED = ['satoshis', 'spend', 'block', 'events', 'data'] as const
const PAGE = 50
/** Scores are heights and, in billionths, indexes in the block. */
const LAST_INDEX = 0.999_999_999

interface OutputQuery {
  /** An event, its spent outputs, or a topic; the outputs of any of several. */
  readonly find: string | readonly string[]
  /** Within one block. */
  readonly height?: number
  /** Unspent outputs only. */
  readonly unspent: boolean
}

const load = async (
  { find, unspent, height }: OutputQuery,
  cursor: string | undefined,
  signal: AbortSignal
): Promise<Page<Output>> => {
  const { outputs, cursor: next } = await ask('GET /txo/search', {
    query: {
      key: typeof find === 'string' ? [find] : find,
      unspent,
      reverse: true,
      limit: PAGE,
      include: INCLUDED,
      ...(height !== undefined && { from: height, to: height + LAST_INDEX }),
      ...(cursor !== undefined && { cursor })
    },
    signal
  })
  return { rows: outputs, cursor: next }
}

/** Events other than the owner's, which the meaning names. */
const telling = (events: readonly string[]): readonly string[] =>
  notable(events)
    .filter(each => !each.startsWith('own:'))
    .slice(0, 3)

export const OutputList = ({
  label,
  empty,
  ...wanted
}: OutputQuery & { readonly label: string; readonly empty: string }) => {
  const pages = usePages(`outputs ${JSON.stringify(wanted)}`, (cursor, signal) =>
    load(wanted, cursor, signal)
  )
  return (
    <List of={pages} label={label} nameOf={({ outpoint }) => outpoint} empty={empty}>
      {output => (
        <>
          <Outpoint outpoint={output.outpoint} />
          <Satoshis amount={output.satoshis} />
          <Meaning output={output} />
          <span class="row-more">
            <When score={output.score} />
            {output.spend ? (
              <span>
                <Badge kind="plain">spent</Badge> by <Txid txid={output.spend} />
              </span>
            ) : (
              <Badge kind="good">unspent</Badge>
            )}
            <Chips names={telling(output.events ?? [])} />
          </span>
        </>
      )}
    </List>
  )
}
