/** Every view is a URL: a router over the History API. Plain links work; those to views do not load the page again. */
import { signal } from '@preact/signals'
import { createContext } from 'preact'

export interface Place {
  readonly path: string
  readonly query: URLSearchParams
  /** What was searched for to come here, told by the entry of the history, so that it survives a reload. */
  readonly searched: Searched | undefined
  /** Which entry of the history it is. */
  readonly entry: string
}

export interface Searched {
  readonly text: string
  readonly kind: string
}

interface State {
  readonly searched?: Searched
  readonly entry: string
}

const newEntry = (): string => Math.random().toString(36).slice(2)

const placeOf = ({ pathname, search }: Location | URL, { searched, entry }: State): Place => ({
  path: pathname,
  query: new URLSearchParams(search),
  searched,
  entry
})

/** An entry that this page did not make, or that was made by hand, has no name yet. */
const stateHere = (): State => {
  const state = history.state as State | null
  if (state?.entry !== undefined) return state
  const named = { ...state, entry: newEntry() }
  history.replaceState(named, '')
  return named
}

export const place = signal(placeOf(location, stateHere()))

/** The entry of the history that the view is of; it may be shown still while the next one is loaded. */
export const Entry = createContext('')

const isView = (path: string): boolean => path === '/' || path === '/explore' || path.startsWith('/explore/')

export const go = (
  href: string,
  options: { readonly replace?: boolean; readonly stay?: boolean; readonly searched?: Searched } = {}
): void => {
  const { replace = false, stay = replace, searched } = options
  const url = new URL(href, location.href)
  const state = { ...(searched && { searched }), entry: newEntry() }
  leave()
  if (replace) history.replaceState(state, '', url)
  else history.pushState(state, '', url)
  place.value = placeOf(url, state)
  if (!stay) scrollTo(0, 0)
}

/** How far each entry was scrolled when it was left. */
const scrolled = new Map<string, number>()
const leave = (): void => {
  scrolled.set(place.peek().entry, scrollY)
}

/** What a view shows comes later, so the page may not be that long yet. Whoever does something meanwhile goes on there. */
const PATIENCE_MS = 5000
const scrollBack = (entry: string): void => {
  const top = scrolled.get(entry) ?? 0
  const end = performance.now() + PATIENCE_MS
  const given = new AbortController()
  for (const kind of ['wheel', 'touchstart', 'pointerdown', 'keydown']) {
    addEventListener(kind, () => given.abort(), { signal: given.signal, passive: true })
  }
  const step = (): void => {
    if (given.signal.aborted || place.peek().entry !== entry) return
    scrollTo(0, top)
    if (scrollY < top - 1 && performance.now() < end) requestAnimationFrame(step)
    else given.abort()
  }
  step()
}

export const startRouter = (): void => {
  // The browser would scroll before there is anything to scroll. When the page is opened again, it knows better.
  history.scrollRestoration = 'manual'
  addEventListener('pagehide', () => {
    history.scrollRestoration = 'auto'
  })
  addEventListener('popstate', () => {
    leave()
    const state = stateHere()
    place.value = placeOf(location, state)
    scrollBack(state.entry)
  })
  document.addEventListener('click', event => {
    const link = (event.target as Element).closest?.('a')
    if (!link || event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    if (link.target || link.hasAttribute('download') || link.origin !== location.origin) return
    // A fragment of this page is for the browser.
    if (!isView(link.pathname) || link.getAttribute('href')?.startsWith('#')) return
    event.preventDefault()
    go(link.href, { stay: link.dataset['stay'] !== undefined })
  })
}
