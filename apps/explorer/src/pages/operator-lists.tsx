/** The whitelist and the blacklist of tokens. */
import { useState } from 'preact/hooks'
import { ApiError, ask } from '../api/client.ts'
import { asError, useLoad } from '../api/load.ts'
import { shortOutpoint } from '../format.ts'
import { Empty, Shown } from '../parts/states.tsx'
import { paths } from '../paths.ts'
import { type Done, Told, useWork } from './operator-actions.tsx'

type ListName = 'whitelist' | 'blacklist'

export const TokenLists = ({ token }: { readonly token: string }) => (
  <div class="columns">
    <TokenList token={token} list="whitelist" about="Always indexed." />
    <TokenList token={token} list="blacklist" about="Never indexed." />
  </div>
)

const TokenList = ({
  token,
  list,
  about
}: {
  readonly token: string
  readonly list: ListName
  readonly about: string
}) => {
  const [done, setDone] = useState<Done | undefined>()
  const loading = useLoad(list, signal => ask(`GET /1sat/admin/api/${list}`, { token, signal }).catch(orNone))
  const [isBusy, work] = useWork()
  const act = (change: () => Promise<unknown>, text: string): Promise<void> =>
    work(async () => {
      try {
        await change()
        setDone({ text })
      } catch (failed) {
        setDone({ error: asError(failed) })
      }
      loading.again()
    })
  const add = (id: string, form: HTMLFormElement) =>
    act(async () => {
      await ask(`POST /1sat/admin/api/${list}`, { body: { topic: id }, token })
      // A refused value stays in the form, to be corrected.
      form.reset()
    }, `added to the ${list}`)
  const remove = (id: string) =>
    act(
      () => ask(`DELETE /1sat/admin/api/${list}/{token}`, { path: { token: id }, token }),
      `taken off the ${list}`
    )
  return (
    <div class="card">
      <h3>{list === 'whitelist' ? 'Whitelist' : 'Blacklist'}</h3>
      <p class="quiet">{about}</p>
      <Shown of={loading} lines={1}>
        {ids =>
          ids === undefined ? (
            <Empty title="This node does not index tokens" />
          ) : (
            <>
              <ul class="listed" aria-label={`Tokens on the ${list}`}>
                {ids.map(id => (
                  <li key={id} class="listed-row">
                    <a class="mono short" href={paths.token(id)} title={id}>
                      {shortOutpoint(id)}
                    </a>
                    <button
                      type="button"
                      class="small"
                      aria-disabled={isBusy}
                      aria-label={`Take ${id} off the ${list}`}
                      onClick={() => remove(id)}
                    >
                      Remove
                    </button>
                  </li>
                ))}
              </ul>
              <form
                class="line-form"
                onSubmit={event => {
                  event.preventDefault()
                  const form = event.currentTarget
                  const id = String(new FormData(form).get('id') ?? '').trim()
                  if (id !== '') void add(id, form)
                }}
              >
                <label>
                  Token to put on the {list}
                  <input name="id" class="mono" autocomplete="off" spellcheck={false} required />
                </label>
                <button type="submit" aria-disabled={isBusy}>
                  Add
                </button>
                <Told done={done} />
              </form>
            </>
          )
        }
      </Shown>
    </div>
  )
}

const orNone = (error: unknown): undefined => {
  if (error instanceof ApiError && error.isMissing) return undefined
  throw error
}
