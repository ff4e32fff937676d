/** A token: its supply, holders, transfers and listings, and the reason why it is indexed or not. */
import { ask } from '../api/client.ts'
import { type Page, useLoad, usePages } from '../api/load.ts'
import type { Completeness, TokenDetails } from '../api/types.ts'
import { count, decimals, digits } from '../format.ts'
import { Facts, Head, List, Section, Tabs, Tile } from '../parts/layout.tsx'
import { Address, Badge, BlockLink, Copy, Icon, Outpoint, Satoshis, When } from '../parts/names.tsx'
import { Shown } from '../parts/states.tsx'
import { Strange } from '../parts/strange.tsx'
import { paths } from '../paths.ts'
import type { ViewProps } from '../views.ts'
import { OutputList } from './outputs.tsx'

const PAGE = 100
const TABS = { holders: 'Holders', transfers: 'Transfers', listings: 'For sale' } as const

export const TokenPage = ({ parameter: token, query }: ViewProps) => {
  const details = useLoad(token, signal => ask('GET /1sat/bsv21/{token}', { path: { token }, signal }))
  const supply = useLoad(token, signal => ask('GET /1sat/bsv21/{token}/supply', { path: { token }, signal }))
  const given = query.get('list')
  const list = given === 'transfers' || given === 'listings' ? given : 'holders'
  const tabs = Object.entries(TABS).map(
    ([key, name]) => [name, `${paths.token(token)}${key === 'holders' ? '' : `?list=${key}`}`] as const
  )
  return (
    <Shown of={details} lines={8}>
      {found => {
        const { sym, dec } = found.token
        return (
          <>
            <Head
              kind="Token"
              symbol={sym}
              title={sym === undefined ? 'A token without a symbol' : <Strange text={sym} most={60} />}
            >
              <Badge kind={found.status.is_active ? 'good' : 'wait'}>
                {found.status.is_active ? 'active' : 'not active'}
              </Badge>
              <Badge kind={found.completeness.complete ? 'good' : 'wait'}>
                {found.completeness.complete ? 'complete' : 'incomplete'}
              </Badge>
            </Head>
            <Shown of={supply} lines={2}>
              {({ supply: amount, minted, burned, listed, holders, listings }) => (
                <>
                  <div class="tiles">
                    <Tile name="Supply" value={decimals(amount, dec)} />
                    <Tile name="Minted" value={decimals(minted, dec)} />
                    <Tile name="Burned" value={decimals(burned, dec)} />
                    <Tile name="Holders" value={count(holders)} />
                    <Tile name="For sale" value={decimals(listed, dec)}>
                      {listings === 1 ? 'in 1 listing' : `in ${count(listings)} listings`}
                    </Tile>
                  </div>
                  <Section title={TABS[list]} aside={<Tabs label="Lists" tabs={tabs} current={TABS[list]} />}>
                    {list === 'holders' && <Holders token={token} dec={dec} supply={amount} />}
                    {list === 'transfers' && (
                      <OutputList
                        label="Transfers"
                        empty="Nothing has moved"
                        unspent={false}
                        find={`id:${found.tokenId}`}
                      />
                    )}
                    {list === 'listings' && <Listings token={token} dec={dec} />}
                  </Section>
                </>
              )}
            </Shown>
            <About details={found} />
          </>
        )
      }}
    </Shown>
  )
}

type Details = TokenDetails & { readonly completeness: Completeness }

/** The block and the source positions of the answer, and the work that is pending. */
const AsOf = ({ of: { height, sources, pending, discovery } }: { readonly of: Completeness }) => (
  <>
    {height === null ? 'no headers' : <BlockLink height={height} />}
    {sources.map(({ name, at, end }) => (
      <span key={name}>
        , {name} at {at === null ? 'its beginning' : count(at)}
        {end !== null && at !== end && ` of ${count(end)}`}
      </span>
    ))}
    ; {pendingText(pending)} of the token, {pendingText(discovery)} of discovery
  </>
)

const pendingText = ({ due, leased, waiting, dead }: Completeness['pending']): string =>
  due + leased + waiting + dead === 0
    ? 'nothing pending'
    : `${count(due + leased)} pending, ${count(waiting)} waiting, ${count(dead)} failed`

const About = ({ details: { tokenId, token, status, completeness } }: { readonly details: Details }) => (
  <Section title="About">
    <Facts
      of={{
        Id: (
          <span class="links">
            <span class="mono">{tokenId}</span>
            <Copy text={tokenId} what="the token id" />
          </span>
        ),
        Deployed: (
          <>
            as <code>{token.op}</code>
            {token.encoding === 'binary' && ', binary (BRC-162),'} in{' '}
            <Outpoint outpoint={tokenId.replace('_', '.')} />
          </>
        ),
        Decimals: count(token.dec),
        Icon: token.icon === undefined ? undefined : <Icon of={token.icon} />,
        Indexed: (
          <>
            <Badge kind={status.is_active ? 'good' : 'wait'}>{status.is_active ? 'yes' : 'no'}</Badge> because{' '}
            {status.reason}
          </>
        ),
        'As of': <AsOf of={completeness} />,
        Lists:
          status.is_blacklisted || status.is_whitelisted
            ? [status.is_whitelisted && 'whitelisted', status.is_blacklisted && 'blacklisted']
                .filter(Boolean)
                .join(', ')
            : undefined,
        Fees:
          status.fee_address === '' ? undefined : (
            <>
              {count(status.credits)} sat paid in, {count(status.debits)} sat used for{' '}
              {count(status.output_count)} outputs at {count(status.fee_per_output)} sat each
            </>
          ),
        'Fee address':
          status.fee_address === '' ? (
            <span class="quiet">this node takes no fees</span>
          ) : (
            <Address address={status.fee_address} whole />
          )
      }}
    />
  </Section>
)

interface HolderRow {
  readonly address: string
  readonly amount: string
  readonly locks: Readonly<Record<string, { readonly amount: string; readonly outputs: number }>>
}

/** In exact thousandths. */
const shareOf = (amount: string, supply: string): number =>
  BigInt(supply) === 0n ? 0 : Number((BigInt(amount) * 100_000n) / BigInt(supply)) / 1000

const Holders = ({
  token,
  dec,
  supply
}: {
  readonly token: string
  readonly dec: number
  readonly supply: string
}) => {
  const pages = usePages<HolderRow>(`holders ${token}`, async (cursor, signal): Promise<Page<HolderRow>> => {
    const { holders, cursor: next } = await ask('GET /1sat/bsv21/{token}/holders', {
      path: { token },
      query: { limit: PAGE, ...(cursor !== undefined && { cursor }) },
      signal
    })
    return { rows: holders, cursor: next }
  })
  return (
    <List of={pages} label="Holders" nameOf={({ address }) => address} empty="No holders">
      {({ address, amount, locks }, i) => {
        const share = shareOf(amount, supply)
        return (
          <span class="holder">
            <span class="rank">{count(i + 1)}</span>
            <Address address={address} whole />
            <span class="amount">{decimals(amount, dec)}</span>
            <span class="bar-track" aria-hidden="true">
              <span class="bar-fill" style={{ width: `${share}%` }} />
            </span>
            <span class="quiet number">{share < 0.01 ? '< 0.01' : share.toFixed(2)} %</span>
            {locks['list'] && <span class="quiet">{decimals(locks['list'].amount, dec)} of it for sale</span>}
          </span>
        )
      }}
    </List>
  )
}

interface Listing {
  readonly outpoint: string
  readonly score: number
  readonly seller: string
  readonly amount: string
  readonly price: number
}

const Listings = ({ token, dec }: { readonly token: string; readonly dec: number }) => {
  const pages = usePages<Listing>(`listings ${token}`, async (cursor, signal) => {
    const { listings, cursor: next } = await ask('GET /1sat/bsv21/{token}/listings', {
      path: { token },
      query: { limit: PAGE, ...(cursor !== undefined && { cursor }) },
      signal
    })
    return { rows: listings, cursor: next }
  })
  return (
    <List of={pages} label="Listings" nameOf={({ outpoint }) => outpoint} empty="Nothing is for sale">
      {({ outpoint, score, seller, amount, price }) => (
        <>
          <Outpoint outpoint={outpoint.replace('_', '.')} />
          <span class="amount">{decimals(amount, dec)}</span>
          <span>
            for <Satoshis amount={price} />{' '}
            <span class="quiet">({perUnit(price, amount, dec)} sat each)</span>
          </span>
          <span class="row-more">
            <When score={score} />
            <span>
              sold by <Address address={seller} />
            </span>
          </span>
        </>
      )}
    </List>
  )
}

/** The price of one token, with four digits. */
const perUnit = (price: number, amount: string, dec: number): string => {
  if (amount === '0') return '–'
  const each = (price / Number(amount)) * 10 ** dec
  return each >= 1000 ? digits(Math.round(each).toString()) : each.toPrecision(4)
}
