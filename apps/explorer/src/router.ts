/**
 * Every view is a URL: a router over the History API. Links to views do not load the page again; other links are
 * plain.
 */
import { signal } from '@preact/signals'
import { createContext } from 'preact'
import { within } from './base.ts'

export interface Place {
  readonly path: string
  readonly query: URLSearchParams
  /** The search that led here, kept in the history entry, so that it survives a reload. */
  readonly searched: SearchOrigin | undefined
  /** The id of the history entry. */
  readonly entry: string
}

export interface SearchOrigin {
  readonly text: string
  readonly kind: string
}

interface State {
  readonly searched?: SearchOrigin
  readonly entry: string
}

const newEntry = (): string => Math.random().toString(36).slice(2)

const placeOf = ({ pathname, search }: Location | URL, { searched, entry }: State): Place => ({
  path: within(pathname) ?? pathname,
  query: new URLSearchParams(search),
  searched,
  entry
})

/** An entry without state: the first of the page, or one typed by hand. */
const stateHere = (): State => {
  const state = history.state as State | null
  if (state?.entry !== undefined) return state
  const named = { ...state, entry: newEntry() }
  history.replaceState(named, '')
  return named
}

export const place = signal(placeOf(location, stateHere()))

/** The history entry of the view. It may still be on display while the next one loads. */
export const Entry = createContext('')

const isView = (pathname: string): boolean => {
  const path = within(pathname)
  return path === '/' || path === '/explore' || path?.startsWith('/explore/') === true
}

export const go = (
  href: string,
  options: { readonly replace?: boolean; readonly stay?: boolean; readonly searched?: SearchOrigin } = {}
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

/** The scroll position of each entry when it was left. */
const scrolled = new Map<string, number>()
const leave = (): void => {
  scrolled.set(place.peek().entry, scrollY)
}

/** The view's data comes later, so the page may be too short to scroll yet. Any input in the meantime cancels. */
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
  // The browser would scroll before the data is there. On a reload it restores the position itself.
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
    // A fragment of this page is the browser's.
    if (!isView(link.pathname) || link.getAttribute('href')?.startsWith('#')) return
    event.preventDefault()
    go(link.href, { stay: link.dataset['stay'] !== undefined })
  })
}
