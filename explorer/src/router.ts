/** Every view is a URL: a router over the History API. Plain links work; those to views do not load the page again. */
import { signal } from '@preact/signals'

export interface Place {
  readonly path: string
  readonly query: URLSearchParams
  /** What was searched for to come here, told by the entry of the history, so that it survives a reload. */
  readonly searched: Searched | undefined
}

export interface Searched {
  readonly text: string
  readonly kind: string
}

const placeOf = ({ pathname, search }: Location | URL, state: unknown): Place => ({
  path: pathname,
  query: new URLSearchParams(search),
  searched: (state as { readonly searched?: Searched } | null)?.searched
})

export const place = signal(placeOf(location, history.state))

const isView = (path: string): boolean => path === '/' || path === '/explore' || path.startsWith('/explore/')

export const go = (
  href: string,
  options: { readonly replace?: boolean; readonly searched?: Searched } = {}
): void => {
  const { replace = false, searched } = options
  const url = new URL(href, location.href)
  const state = searched ? { searched } : null
  if (replace) history.replaceState(state, '', url)
  else history.pushState(state, '', url)
  place.value = placeOf(url, state)
  if (!replace) scrollTo(0, 0)
}

export const startRouter = (): void => {
  addEventListener('popstate', ({ state }) => {
    place.value = placeOf(location, state)
  })
  document.addEventListener('click', event => {
    const link = (event.target as Element).closest?.('a')
    if (!link || event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    if (link.target || link.hasAttribute('download') || link.origin !== location.origin) return
    // A fragment of this page is for the browser.
    if (!isView(link.pathname) || link.getAttribute('href')?.startsWith('#')) return
    event.preventDefault()
    go(link.href)
  })
}
