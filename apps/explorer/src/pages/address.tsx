/** An address: its outputs and its history. */
import { addressBytes, isRightAddress } from '../address.ts'
import { ask } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { count } from '../format.ts'
import { Head, Section, Tabs, Tile } from '../parts/layout.tsx'
import { Copy, Satoshis } from '../parts/names.tsx'
import { Shown } from '../parts/states.tsx'
import { Strange } from '../parts/strange.tsx'
import { paths } from '../paths.ts'
import type { ViewProps } from '../views.ts'
import { HeldTokens } from './held.tsx'
import { OutputList } from './outputs.tsx'

const LISTS = {
  unspent: { name: 'Unspent', empty: 'Nothing unspent pays this address', suffix: '', unspent: true },
  spent: { name: 'Spent', empty: 'Nothing that paid this address is spent', suffix: ':spnd', unspent: false },
  history: { name: 'History', empty: 'Nothing ever paid this address', suffix: '', unspent: false }
} as const
type ListName = keyof typeof LISTS

const listOf = (given: string | null): ListName =>
  given === 'spent' || given === 'history' ? given : 'unspent'

export const AddressPage = ({ parameter: address, query }: ViewProps) => {
  const key = `own:${address}`
  const chosen = listOf(query.get('list'))
  const { name, empty, suffix, unspent } = LISTS[chosen]
  const balance = useLoad(address, signal => ask('GET /txo/balance', { query: { events: [key] }, signal }))
  const right = useLoad(address, () => isRightAddress(address))
  const isWrong = addressBytes(address) && right.loaded.state === 'there' && right.loaded.value === false
  const tabs = Object.entries(LISTS).map(
    ([list, each]) =>
      [each.name, `${paths.address(address)}${list === 'unspent' ? '' : `?list=${list}`}`] as const
  )
  return (
    <>
      <Head
        kind="Address"
        title={
          <span class="mono hash">
            <Strange text={address} />
          </span>
        }
      >
        <Copy text={address} what="the address" />
      </Head>
      {isWrong ? (
        <p class="failure" role="alert">
          The checksum of this address is wrong: at least one character was changed.
        </p>
      ) : (
        <Shown of={balance} lines={2}>
          {({ satoshis, outputs, cursor }) => (
            <>
              <div class="tiles">
                <Tile name="Balance" value={<Satoshis amount={satoshis} />}>
                  {cursor === null ? undefined : 'and more: only the first outputs were added up'}
                </Tile>
                <Tile name="Unspent outputs" value={count(outputs)} />
              </div>
              <Section title="Tokens">
                <HeldTokens address={address} />
              </Section>
              <Section title="Outputs" aside={<Tabs label="Outputs" tabs={tabs} current={name} />}>
                <OutputList
                  label={`${name} outputs`}
                  empty={empty}
                  unspent={unspent}
                  find={`${key}${suffix}`}
                />
              </Section>
            </>
          )}
        </Shown>
      )}
    </>
  )
}
