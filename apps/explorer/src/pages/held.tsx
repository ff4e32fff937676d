/** The tokens that an address holds, in pages. */
import { type Answer, ApiError, ask } from '../api/client.ts'
import { type Page, usePages } from '../api/load.ts'
import { count, decimals } from '../format.ts'
import { List } from '../parts/layout.tsx'
import { Icon, Outpoint } from '../parts/names.tsx'
import { Empty } from '../parts/states.tsx'
import { Strange } from '../parts/strange.tsx'
import { paths } from '../paths.ts'

const PAGE = 25

type Held = Answer<'GET /1sat/owner/{address}/tokens'>['tokens'][number]

/** Skips pages without rows, which are of tokens that the address no longer holds. */
const load = async (address: string, from: string | undefined, signal: AbortSignal): Promise<Page<Held>> => {
  const { tokens, cursor } = await ask('GET /1sat/owner/{address}/tokens', {
    path: { address },
    query: { limit: PAGE, ...(from !== undefined && { cursor: from }) },
    signal
  })
  return tokens.length === 0 && cursor !== null ? load(address, cursor, signal) : { rows: tokens, cursor }
}

export const HeldTokens = ({ address }: { readonly address: string }) => {
  const pages = usePages<Held>(`held ${address}`, (cursor, signal) => load(address, cursor, signal))
  if (pages.error instanceof ApiError && pages.error.isMissing) {
    return <Empty title="This node does not index tokens" />
  }
  return (
    <List of={pages} label="Tokens held" nameOf={({ id }) => id} empty="No tokens">
      {({ id, sym, dec, icon, amount, locks }) => (
        <>
          <a class="entry-key" href={paths.token(id)}>
            {sym === undefined ? <span class="quiet">no symbol</span> : <Strange text={sym} most={40} />}
          </a>
          <span class="amount">{decimals(amount, dec)}</span>
          <span class="quiet">
            {inOutputs(Object.values(locks))}
            {locks['list'] && `, ${decimals(locks['list'].amount, dec)} of it for sale`}
          </span>
          <span class="row-more">
            <Outpoint outpoint={id} />
            {icon !== undefined && (
              <span>
                icon <Icon of={icon} />
              </span>
            )}
          </span>
        </>
      )}
    </List>
  )
}

const inOutputs = (locks: readonly { readonly outputs: number }[]): string => {
  const outputs = locks.reduce((sum, each) => sum + each.outputs, 0)
  return outputs === 1 ? 'in 1 output' : `in ${count(outputs)} outputs`
}
