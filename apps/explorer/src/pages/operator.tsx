/** The operator's page: queues, dead letters, topics, eviction, backups. The bearer token is kept in memory only. */
import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { ApiError, ask } from '../api/client.ts'
import { asError, useLoad, usePages } from '../api/load.ts'
import { count, duration } from '../format.ts'
import { Head, List, Scroll, Section } from '../parts/layout.tsx'
import { Outpoint, Txid } from '../parts/names.tsx'
import { Failure, Shown } from '../parts/states.tsx'
import { Strange } from '../parts/strange.tsx'
import { Backup, Evict, Headers, useWork } from './operator-actions.tsx'
import { TokenLists } from './operator-lists.tsx'

const token = signal<string | undefined>(undefined)

export const OperatorPage = () => (
  <>
    <Head title="Operator" />
    {token.value === undefined ? <Entry /> : <Plane token={token.value} />}
  </>
)

const Entry = () => {
  const [error, setError] = useState<Error | undefined>()
  const [isBusy, work] = useWork()
  const enter = async (given: string): Promise<void> => {
    try {
      await ask('GET /admin/topics', { token: given })
      token.value = given
    } catch (failed) {
      setError(failed instanceof ApiError ? explained(failed) : asError(failed))
    }
  }
  return (
    <form
      class="line-form"
      onSubmit={event => {
        event.preventDefault()
        const given = String(new FormData(event.currentTarget).get('token') ?? '')
        if (given !== '') void work(() => enter(given))
      }}
    >
      <label>
        Admin token
        <input name="token" type="password" autocomplete="off" required />
      </label>
      <button type="submit" aria-disabled={isBusy}>
        Enter
      </button>
      <p class="quiet">It stays in the memory of this page: a reload forgets it.</p>
      {error && <Failure error={error} />}
    </form>
  )
}

const explained = (error: ApiError): Error => {
  if (error.status === 401 || error.status === 403) return new Error('Wrong admin token.')
  if (error.status === 404)
    return new Error('This node was started without an admin token, so it has no admin plane.')
  return error
}

interface Queue {
  readonly name: string
  readonly due: number
  readonly leased: number
  readonly waiting: number
  readonly dead: number
  readonly age?: number | null
}

const Plane = ({ token: given }: { readonly token: string }) => {
  const queues = useLoad(
    'queues',
    async signal => (await ask('GET /admin/queues', { token: given, signal })).data as Queue[]
  )
  const topics = useLoad(
    'topics',
    async signal =>
      (await ask('GET /admin/topics', { token: given, signal })).data as {
        readonly name: string
        readonly outputs: number
        readonly transactions: number
      }[]
  )
  return (
    <>
      <p>
        <button
          type="button"
          onClick={() => {
            token.value = undefined
          }}
        >
          Leave
        </button>{' '}
        <button
          type="button"
          onClick={() => {
            queues.again()
            topics.again()
          }}
        >
          Refresh
        </button>
      </p>
      <Section title="Queues">
        <Shown of={queues}>{all => <Queues token={given} queues={all} again={queues.again} />}</Shown>
      </Section>
      <Section title="Topics">
        <Shown of={topics}>
          {all => (
            <Scroll label="Topics">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Topic</th>
                    <th scope="col" class="number">
                      Outputs
                    </th>
                    <th scope="col" class="number">
                      Transactions
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {all.map(({ name, outputs, transactions }) => (
                    <tr key={name}>
                      <th scope="row">{name}</th>
                      <td class="number">{count(outputs)}</td>
                      <td class="number">{count(transactions)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
          )}
        </Shown>
      </Section>
      <Section title="Evict an output">
        <Evict token={given} done={topics} />
      </Section>
      <Section title="Token lists">
        <TokenLists token={given} />
      </Section>
      <Section title="Backup">
        <Backup token={given} />
      </Section>
      <Section title="Headers">
        <Headers token={given} />
      </Section>
    </>
  )
}

const Queues = ({
  token: given,
  queues,
  again
}: {
  readonly token: string
  readonly queues: readonly Queue[]
  readonly again: () => void
}) => {
  const [open, setOpen] = useState<{ readonly queue: string; readonly state: State } | undefined>()
  return (
    <>
      <Scroll label="Queues">
        <table>
          <thead>
            <tr>
              <th scope="col">Queue</th>
              {STATES.map(state => (
                <th key={state} scope="col" class="number">
                  {state}
                </th>
              ))}
              <th scope="col">Oldest</th>
            </tr>
          </thead>
          <tbody>
            {queues.map(queue => (
              <tr key={queue.name}>
                <th scope="row">
                  <Strange text={queue.name} />
                </th>
                {STATES.map(state => (
                  <td key={state} class="number">
                    <button
                      type="button"
                      class="link"
                      disabled={queue[state] === 0}
                      aria-label={`${queue[state]} ${state} in ${queue.name}`}
                      onClick={() => setOpen({ queue: queue.name, state })}
                    >
                      {count(queue[state])}
                    </button>
                  </td>
                ))}
                <td>{queue.age ? duration(queue.age * 1000) : '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {open && <Items key={`${open.queue} ${open.state}`} token={given} {...open} again={again} />}
    </>
  )
}

const STATES = ['due', 'leased', 'waiting', 'dead'] as const
type State = (typeof STATES)[number]

interface Item {
  readonly item: string
  readonly attempts?: number
  readonly reason?: string
}

const Items = ({
  token: given,
  queue,
  state,
  again
}: {
  readonly token: string
  readonly queue: string
  readonly state: State
  readonly again: () => void
}) => {
  // A new key for every visit: queues change.
  const [turn, setTurn] = useState(() => performance.now())
  const [isBusy, work] = useWork()
  const [error, setError] = useState<Error | undefined>()
  const pages = usePages<Item>(`${queue} ${state} ${turn}`, async (cursor, abort) => {
    const { data } = await ask('GET /admin/queues/{queue}/{state}', {
      path: { queue, state },
      query: { limit: 50, ...(cursor !== undefined && { cursor }) },
      token: given,
      signal: abort
    })
    const { items, cursor: next } = data as {
      readonly items: readonly Item[]
      readonly cursor: string | null
    }
    return { rows: items, cursor: next }
  })
  const act = (change: () => Promise<unknown>): Promise<void> =>
    work(async () => {
      try {
        await change()
        setError(undefined)
      } catch (failed) {
        setError(asError(failed))
      }
      setTurn(performance.now())
      again()
    })
  const retry = (item?: string) =>
    act(() =>
      ask('POST /admin/queues/{queue}/retry', {
        path: { queue },
        body: item === undefined ? {} : { item },
        token: given
      })
    )
  return (
    <div class="card">
      <h3>
        {state} in <Strange text={queue} />
      </h3>
      {error && <Failure error={error} />}
      {state === 'dead' && pages.rows.length > 0 && (
        <button type="button" aria-disabled={isBusy} onClick={() => retry()}>
          Retry all
        </button>
      )}
      <List of={pages} label={`Items ${state} in ${queue}`} nameOf={({ item }) => item} empty="None">
        {({ item, attempts, reason }) => (
          <>
            {item.includes('.') ? <Outpoint outpoint={item} /> : <Txid txid={item} />}
            <span class="quiet">
              {attempts === undefined ? '' : `${count(attempts)} ${attempts === 1 ? 'attempt' : 'attempts'}`}
            </span>
            <span>{reason && <Strange text={reason} most={300} />}</span>
            <span class="row-more">
              {state === 'dead' && (
                <button type="button" class="small" aria-disabled={isBusy} onClick={() => retry(item)}>
                  Retry
                </button>
              )}
              <button
                type="button"
                class="small"
                aria-disabled={isBusy}
                onClick={() =>
                  act(() =>
                    ask('DELETE /admin/queues/{queue}/items/{item}', { path: { queue, item }, token: given })
                  )
                }
              >
                Remove
              </button>
            </span>
          </>
        )}
      </List>
    </div>
  )
}
