/** Loading of a view's data: pending, loaded or failed. */
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks'
import { Entry } from '../router.ts'

type LoadResult<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly error: Error }
  | { readonly state: 'there'; readonly value: T }

export interface LoadState<T> {
  readonly loaded: LoadResult<T>
  again(): void
}

/** Loads when the view appears, and again when `key` changes; a response for an earlier key is dropped. */
export const useLoad = <T>(key: string, load: (signal: AbortSignal) => Promise<T>): LoadState<T> => {
  const [result, setResult] = useState<{ key: string; loaded: LoadResult<T> }>({
    key,
    loaded: { state: 'loading' }
  })
  const [turn, setTurn] = useState(0)
  const latest = useRef(load)
  latest.current = load
  useEffect(() => {
    const leaving = new AbortController()
    const settle = (loaded: LoadResult<T>): void => {
      if (!leaving.signal.aborted) setResult({ key, loaded })
    }
    latest.current(leaving.signal).then(
      value => settle({ state: 'there', value }),
      (error: unknown) => settle({ state: 'failed', error: asError(error) })
    )
    return () => leaving.abort()
  }, [key, turn])
  const again = useCallback(() => {
    // Loaded data stays until newer data comes; a failed refresh does not replace it.
    setResult(each => (each.loaded.state === 'failed' ? { ...each, loaded: { state: 'loading' } } : each))
    setTurn(each => each + 1)
  }, [])
  return { loaded: result.key === key ? result.loaded : { state: 'loading' }, again }
}

export const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

export interface Page<T> {
  readonly rows: readonly T[]
  readonly cursor: string | null
}

export interface Pages<T> {
  readonly rows: readonly T[]
  readonly state: 'loading' | 'more' | 'end' | 'failed'
  readonly error: Error | undefined
  more(): void
}

interface ListRows<T> {
  readonly name: string
  readonly rows: readonly T[]
  readonly cursor: string | null | undefined
  readonly error?: Error
}

/** The rows of lists by history entry, restored when a person goes back. The oldest entry is dropped first. */
const kept = new Map<string, ListRows<unknown>>()
const MOST_KEPT = 50
const keep = (gathered: ListRows<unknown>): void => {
  kept.delete(gathered.name)
  kept.set(gathered.name, gathered)
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!)
}

/** Pages behind cursors, one after the other. Lists of a view have distinct keys. */
export const usePages = <T>(
  key: string,
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>
): Pages<T> => {
  const name = `${useContext(Entry)} ${key}`
  const [gathered, setGathered] = useState<ListRows<T> | undefined>()
  const [wanted, setWanted] = useState({ name, count: 1 })
  const latest = useRef(load)
  latest.current = load
  const current =
    gathered?.name === name
      ? gathered
      : ((kept.get(name) as ListRows<T> | undefined) ?? { name, rows: [], cursor: undefined })
  const turn = wanted.name === name ? wanted.count : 1
  const [asked, setAsked] = useState<ListRows<T> | undefined>()
  const isAsked = asked === current
  useEffect(() => {
    const settle = (now: ListRows<T>): void => {
      if (leaving.signal.aborted) return
      if (!now.error) keep(now)
      setGathered(now)
    }
    const leaving = new AbortController()
    setGathered(current)
    // Restored rows need no request.
    if (current.cursor === null || (current.cursor !== undefined && !isAsked)) return
    latest.current(current.cursor, leaving.signal).then(
      ({ rows, cursor }) => settle({ name, rows: [...current.rows, ...rows], cursor }),
      (error: unknown) => settle({ ...current, error: asError(error) })
    )
    return () => leaving.abort()
  }, [name, turn])
  const more = (): void => {
    if (isAsked || current.cursor === null) return
    setAsked(current)
    setWanted({ name, count: turn + 1 })
  }
  const state =
    current.error && !isAsked
      ? 'failed'
      : current.cursor === null
        ? 'end'
        : isAsked || current.cursor === undefined
          ? 'loading'
          : 'more'
  return { rows: current.rows, state, error: current.error, more }
}
