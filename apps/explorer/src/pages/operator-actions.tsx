/** The operator's forms: evict an output, write a backup, inspect the headers. */
import { useRef, useState } from 'preact/hooks'
import { ApiError, ask } from '../api/client.ts'
import { asError, type LoadState, useLoad } from '../api/load.ts'
import { count } from '../format.ts'
import { Facts } from '../parts/layout.tsx'
import { Badge } from '../parts/names.tsx'
import { Failure, Shown } from '../parts/states.tsx'

/** The result of an action, or its error. */
export type Done = { readonly text: string } | { readonly error: Error }

export const Told = ({ done }: { readonly done: Done | undefined }) => (
  <div aria-live="polite">
    {done &&
      ('error' in done ? (
        <Failure error={done.error} />
      ) : (
        <p>
          <Badge kind="good">done</Badge> {done.text}
        </p>
      ))}
  </div>
)

/** Runs one action at a time; a second click during an action is ignored. */
export const useWork = (): readonly [isBusy: boolean, work: (of: () => Promise<void>) => Promise<void>] => {
  const [isBusy, setBusy] = useState(false)
  const running = useRef(false)
  const work = async (of: () => Promise<void>): Promise<void> => {
    if (running.current) return
    running.current = true
    setBusy(true)
    try {
      await of()
    } finally {
      running.current = false
      setBusy(false)
    }
  }
  return [isBusy, work]
}

export const Evict = ({
  token: given,
  done: { again }
}: {
  readonly token: string
  readonly done: LoadState<unknown>
}) => {
  const [done, setDone] = useState<Done | undefined>()
  const [isBusy, work] = useWork()
  const evict = async (outpoint: string, form: HTMLFormElement): Promise<void> => {
    try {
      await ask('POST /admin/evict', { body: { outpoint }, token: given })
      setDone({ text: `${outpoint} is in no topic any more.` })
      form.reset()
      again()
    } catch (failed) {
      setDone({ error: asError(failed) })
    }
  }
  return (
    <form
      class="line-form"
      onSubmit={event => {
        event.preventDefault()
        const form = event.currentTarget
        const outpoint = String(new FormData(form).get('outpoint') ?? '').trim()
        if (
          outpoint !== '' &&
          !isBusy &&
          confirm(`Evict ${outpoint}? It leaves all topics, and its data is deleted.`)
        ) {
          void work(() => evict(outpoint, form))
        }
      }}
    >
      <label>
        Outpoint
        <input name="outpoint" class="mono" autocomplete="off" spellcheck={false} required />
      </label>
      <button type="submit" class="danger" aria-disabled={isBusy}>
        {isBusy ? 'Evicting…' : 'Evict'}
      </button>
      <Told done={done} />
    </form>
  )
}

export const Backup = ({ token: given }: { readonly token: string }) => {
  const [done, setDone] = useState<Done | undefined>()
  const [isBusy, work] = useWork()
  const backup = async (): Promise<void> => {
    try {
      const { data } = await ask('POST /admin/backup', { body: {}, token: given })
      setDone({ text: `written and read back: ${(data as { name: string }).name}` })
    } catch (failed) {
      const isMissing = failed instanceof ApiError && failed.status === 404
      setDone({
        error: isMissing
          ? new Error('This node was started without a directory for backups.')
          : asError(failed)
      })
    }
  }
  return (
    <>
      <button type="button" aria-disabled={isBusy} onClick={() => void work(backup)}>
        {isBusy ? 'Writing…' : 'Write a backup now'}
      </button>
      <Told done={done} />
    </>
  )
}

export const Headers = ({ token: given }: { readonly token: string }) => {
  const loading = useLoad(
    'headers',
    async abort => (await ask('GET /admin/headers', { token: given, signal: abort })).data
  )
  return (
    <Shown of={loading}>
      {data => {
        const { network, start, tip } = data as {
          readonly network: string
          readonly start: unknown
          readonly tip: { readonly height: number; readonly hash: string }
        }
        return (
          <Facts
            of={{
              Network: network,
              'Begin at': typeof start === 'object' ? JSON.stringify(start) : String(start),
              Last: (
                <>
                  {count(tip.height)} <code>{tip.hash}</code>
                </>
              )
            }}
          />
        )
      }}
    </Shown>
  )
}
