/** The states of a view without data: loading, empty, or failed. */
import type { ComponentChildren } from 'preact'
import { ApiError } from '../api/client.ts'
import type { LoadState } from '../api/load.ts'

export const Waiting = ({ lines = 3 }: { readonly lines?: number }) => (
  <div class="waiting" role="status">
    <span class="hidden">Loading…</span>
    {Array.from({ length: lines }, (_, i) => (
      <span key={i} class="bone" />
    ))}
  </div>
)

export const Empty = ({
  title,
  children
}: {
  readonly title: string
  readonly children?: ComponentChildren
}) => (
  <div class="empty">
    <p class="empty-title">{title}</p>
    {children && <div class="quiet">{children}</div>}
  </div>
)

const WITHOUT = 'This node runs without it. Its settings turn it on.'

export const Failure = ({
  error,
  again
}: {
  readonly error: Error
  readonly again?: (() => void) | undefined
}) => {
  const isMissing = error instanceof ApiError && error.isMissing
  const isNotFound = error instanceof ApiError && error.isNotFound
  const title = isMissing ? 'Not on this node' : isNotFound ? 'Not known here' : 'Request failed'
  return (
    <div class={isNotFound ? 'empty' : 'failure'} role={isNotFound ? undefined : 'alert'}>
      <p class="empty-title">{title}</p>
      <p class="quiet">
        {isMissing ? WITHOUT : error.message}
        {error instanceof ApiError && !isMissing && (
          <>
            {' '}
            <code>{error.code}</code>
          </>
        )}
      </p>
      {again && !isNotFound && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  )
}

interface ShownProps<T> {
  readonly of: LoadState<T>
  readonly lines?: number
  readonly children: (value: T) => ComponentChildren
}

export const Shown = <T,>({ of: { loaded, again }, lines, children }: ShownProps<T>) => {
  if (loaded.state === 'loading') return <Waiting {...(lines !== undefined && { lines })} />
  if (loaded.state === 'failed') return <Failure error={loaded.error} again={again} />
  return <>{children(loaded.value)}</>
}
