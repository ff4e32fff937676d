/** Layout parts of every view. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Pages } from '../api/load.ts'
import { Empty, Failure, Waiting } from './states.tsx'

/** The heading gets the focus when the view appears, so that a screen reader announces the place. */
export const Head = ({
  title,
  kind,
  symbol,
  children
}: {
  readonly title: ComponentChildren
  readonly kind?: string
  /** For the title of the window, in place of the id in the address. */
  readonly symbol?: string | undefined
  readonly children?: ComponentChildren
}) => {
  useEffect(() => {
    const shown = symbol?.replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '').slice(0, LONGEST_SYMBOL)
    if (shown) document.title = `${kind} ${shown} · Quoin`
  }, [symbol, kind])
  return (
    <header class="head">
      {kind && <p class="kind">{kind}</p>}
      <h1 tabIndex={-1}>{title}</h1>
      {children}
    </header>
  )
}
const LONGEST_SYMBOL = 40

export const Section = ({
  title,
  aside,
  children
}: {
  readonly title: string
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
}) => {
  const id = `section-${title.toLowerCase().replaceAll(/\W+/g, '-')}`
  return (
    <section aria-labelledby={id}>
      <div class="section-head">
        <h2 id={id}>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  )
}

/** Facts by name; undefined ones are left out. */
export const Facts = ({ of }: { readonly of: Readonly<Record<string, ComponentChildren>> }) => (
  <dl class="facts">
    {Object.entries(of).map(([name, value]) =>
      value === undefined ? null : (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      )
    )}
  </dl>
)

export const Tile = ({
  name,
  value,
  children
}: {
  readonly name: string
  readonly value: ComponentChildren
  readonly children?: ComponentChildren
}) => (
  <div class="tile">
    <p class="tile-name">{name}</p>
    <p class="tile-value">{value}</p>
    {children && <p class="quiet">{children}</p>}
  </div>
)

interface ListProps<T> {
  readonly of: Pages<T>
  readonly label: string
  readonly nameOf: (row: T) => string
  readonly empty: ComponentChildren
  readonly children: (row: T, index: number) => ComponentChildren
}

/**
 * A long list. Rows out of sight are not laid out (`content-visibility`). A button loads the next page and moves the
 * focus to its first row.
 */
export const List = <T,>({
  of: { rows, state, error, more },
  label,
  nameOf,
  empty,
  children
}: ListProps<T>) => {
  const list = useRef<HTMLOListElement>(null)
  const asked = useRef<number | undefined>(undefined)
  const hasMore = state === 'more' || (state === 'loading' && rows.length > 0)
  useEffect(() => {
    if (asked.current === undefined || rows.length <= asked.current) return
    const isElsewhere = document.activeElement !== document.body && !document.activeElement?.matches('.more')
    if (!isElsewhere)
      (list.current?.children[asked.current] as HTMLElement | undefined)?.focus({ preventScroll: true })
    asked.current = undefined
  }, [rows.length])
  if (rows.length === 0) {
    if (state === 'loading') return <Waiting />
    if (state === 'end') return <>{typeof empty === 'string' ? <Empty title={empty} /> : empty}</>
  }
  return (
    <>
      <ol ref={list} class="rows" aria-label={label}>
        {rows.map((row, i) => (
          <li key={nameOf(row)} tabIndex={-1}>
            {children(row, i)}
          </li>
        ))}
      </ol>
      {state === 'failed' && <Failure error={error!} again={more} />}
      {hasMore && (
        <button
          type="button"
          class="more"
          aria-disabled={state === 'loading'}
          onClick={() => {
            asked.current = rows.length
            more()
          }}
        >
          {state === 'loading' ? 'Loading…' : 'Show more'}
        </button>
      )}
      {state === 'end' && rows.length > 10 && <p class="quiet end">End of the list.</p>}
    </>
  )
}

/** Tabs that are links, since each is a URL. */
export const Tabs = ({
  label,
  tabs,
  current
}: {
  readonly label: string
  readonly tabs: readonly (readonly [name: string, href: string])[]
  readonly current: string
}) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(([name, href]) => (
      <a key={name} class="tab" href={href} data-stay aria-current={name === current ? 'page' : undefined}>
        {name}
      </a>
    ))}
  </nav>
)

/** Content wider than the page, such as a wide table: focusable, and scrolled with the keys. */
export const Scroll = ({
  label,
  children
}: {
  readonly label: string
  readonly children: ComponentChildren
}) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: without it nobody could scroll here with the keys alone.
  <section class="scroll" aria-label={label} tabIndex={0}>
    {children}
  </section>
)
