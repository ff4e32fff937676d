/** The frame around every view: navigation, the current place, and the search. */
import type { ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { asError } from './api/load.ts'
import { at } from './base.ts'
import { short } from './format.ts'
import { Head } from './parts/layout.tsx'
import { Empty, Failure, Waiting } from './parts/states.tsx'
import { paths } from './paths.ts'
import { Entry, type Place, place } from './router.ts'
import { SearchBox } from './search/box.tsx'
import { ReadingNotice } from './search/reading-notice.tsx'
import { switchTheme, theme } from './theme.ts'
import { type OpenView, type ViewProps, viewOf } from './views.ts'

const NAVIGATION: readonly (readonly [name: string, href: string, under: RegExp])[] = [
  ['Home', paths.home, /^\/(explore)?$/],
  ['Tokens', paths.tokens(), /^\/explore\/token/],
  ['Key-value', paths.entries(), /^\/explore\/kv/],
  ['Liquidity', paths.pools, /^\/explore\/po(ol|sition)/],
  ['Keys', paths.keyspaces, /^\/explore\/(keyspaces|explain)/],
  ['Playground', paths.playground, /^\/explore\/playground/],
  ['Operator', paths.operator, /^\/explore\/operator/]
]

export const App = () => {
  const { path } = place.value
  const isDark = theme.value === 'dark'
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="bar">
        <div class="bar-inside">
          <a class="brand" href={paths.home}>
            <span class="mark" aria-hidden="true" />
            Quoin
          </a>
          <SearchBox />
          <button
            type="button"
            class="theme"
            aria-label={isDark ? 'Use light colours' : 'Use dark colours'}
            onClick={switchTheme}
          >
            <span aria-hidden="true">{isDark ? '☀' : '☾'}</span>
          </button>
          <nav aria-label="Views">
            {NAVIGATION.map(([name, href, under]) => (
              <a key={name} class="nav-link" href={href} aria-current={under.test(path) ? 'page' : undefined}>
                {name}
              </a>
            ))}
          </nav>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <Current place={place.value} />
      </main>
      <footer>
        <a href={at('/docs')}>Every route of this node</a>
        <a href={at('/status')}>Status as JSON</a>
        <a href={at('/metrics')}>Metrics</a>
      </footer>
    </>
  )
}

/** Includes the name of the thing, for the browser's history. */
const titleOf = (found: OpenView | undefined): string => {
  if (!found) return 'Nothing here · Quoin'
  const name = short(found.parameter.replaceAll(/[^\w.:-]/g, ''))
  return `${found.view.title}${name && ` ${name}`} · Quoin`
}

interface Ready {
  readonly path: string
  readonly View: ComponentType<ViewProps>
  readonly parameter: string
}

/** The view of the place. While it loads, the previous one stays, so that nothing flickers. */
const Current = ({ place: now }: { readonly place: Place }) => {
  const { path } = now
  const [ready, setReady] = useState<Ready | undefined>()
  const [failed, setFailed] = useState<Error | undefined>()
  const first = useRef(true)
  const found = viewOf(path)
  useEffect(() => {
    let left = false
    setFailed(undefined)
    document.title = titleOf(found)
    found?.view.load().then(
      View => {
        if (!left) setReady({ path, View, parameter: found.parameter })
      },
      (error: unknown) => {
        if (!left) setFailed(asError(error))
      }
    )
    return () => {
      left = true
    }
  }, [path])
  useEffect(() => {
    if (!ready) return
    // Not when the page is opened: it is then read from its beginning. Nor while a person types.
    const isTyping = document.activeElement?.matches('input, textarea, select') ?? false
    if (!first.current && !isTyping)
      document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
    first.current = false
  }, [ready])
  const isHere = ready?.path === path
  const shown = useRef(now)
  if (isHere) shown.current = now
  if (!found) {
    return (
      <>
        <Head title="Nothing here" />
        <Empty title="No view has this address">
          The <a href={paths.home}>home page</a> leads everywhere.
        </Empty>
      </>
    )
  }
  if (failed) {
    return (
      <>
        <Head title={found.view.title} />
        <Failure error={failed} again={() => location.reload()} />
      </>
    )
  }
  if (!ready) return <Waiting lines={6} />
  const { View, parameter } = ready
  const { query, searched, entry } = shown.current
  return (
    <>
      {!isHere && (
        <p class="under-way" role="status">
          <span class="hidden">Loading…</span>
        </p>
      )}
      <ReadingNotice path={shown.current.path} searched={searched} />
      <Entry.Provider value={entry}>
        <View key={ready.path} parameter={parameter} query={query} />
      </Entry.Provider>
    </>
  )
}
