/** The tokens that the node knows, in the order of deployment, with their state. */
import { ask } from '../api/client.ts'
import { type Page, usePages } from '../api/load.ts'
import type { TokenDetails } from '../api/types.ts'
import { decimals } from '../format.ts'
import { Head, List, Section } from '../parts/layout.tsx'
import { Badge, Outpoint } from '../parts/names.tsx'
import { Empty } from '../parts/states.tsx'
import { Strange } from '../parts/strange.tsx'
import { paths } from '../paths.ts'
import { go } from '../router.ts'
import type { ViewProps } from '../views.ts'

const PAGE = 50

const load = async (
  sym: string,
  cursor: string | undefined,
  signal: AbortSignal
): Promise<Page<TokenDetails>> => {
  const { tokens, cursor: next } = await ask('GET /1sat/bsv21/tokens', {
    query: { limit: PAGE, ...(sym !== '' && { sym }), ...(cursor !== undefined && { cursor }) },
    signal
  })
  const ids = tokens.map(({ id }) => id)
  // The list has deployments only; this request adds whether they are indexed.
  const rows = ids.length === 0 ? [] : await ask('POST /1sat/bsv21/lookup', { body: ids, signal })
  return { rows, cursor: next }
}

export const TokensPage = ({ query }: ViewProps) => {
  const sym = query.get('sym') ?? ''
  const pages = usePages<TokenDetails>(`tokens ${sym}`, (cursor, signal) => load(sym, cursor, signal))
  return (
    <>
      <Head title="Tokens">
        <p class="lead">
          BSV21 tokens. A symbol is whatever its deployer wrote, and anybody can write the same: a token is
          its id.
        </p>
      </Head>
      <form
        class="line-form"
        onSubmit={event => {
          event.preventDefault()
          const given = String(new FormData(event.currentTarget).get('sym') ?? '').trim()
          go(paths.tokens(given === '' ? {} : { sym: given }))
        }}
      >
        <label>
          Symbol begins with
          <input name="sym" key={sym} defaultValue={sym} autocomplete="off" spellcheck={false} />
        </label>
        <button type="submit">Find</button>
      </form>
      <Section title={sym === '' ? 'All of them' : 'Found'}>
        <List
          of={pages}
          label="Tokens"
          nameOf={({ tokenId }) => tokenId}
          empty={
            <Empty title={sym === '' ? 'No tokens yet' : 'No matching symbols'}>
              {sym === '' && 'A deployment that is submitted to tm_bsv21 is listed here.'}
            </Empty>
          }
        >
          {({ tokenId, token, status }) => (
            <>
              <a class="entry-key" href={paths.token(tokenId)}>
                {token.sym === undefined ? (
                  <span class="quiet">no symbol</span>
                ) : (
                  <Strange text={token.sym} most={40} />
                )}
              </a>
              <span class="amount">
                {token.op === 'deploy+auth' ? 'minted on demand' : decimals(token.amt, token.dec)}
              </span>
              <span>
                <Badge kind={status.is_active ? 'good' : 'wait'}>
                  {status.is_active ? 'active' : 'not active'}
                </Badge>{' '}
                <span class="quiet">{status.reason}</span>
              </span>
              <span class="row-more">
                <Outpoint outpoint={tokenId} />
              </span>
            </>
          )}
        </List>
      </Section>
    </>
  )
}
