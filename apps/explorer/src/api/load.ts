/** What a view has asked for: on its way, there, or not to be had. */
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks'
import { Entry } from '../router.ts'

type Loaded<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly error: Error }
  | { readonly state: 'there'; readonly value: T }

export interface Loading<T> {
  readonly loaded: Loaded<T>
  again(): void
}

/** Asks when the view appears, and again when `key` changes; an answer that comes too late is dropped. */
export const useLoad = <T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loading<T> => {
  const [result, setResult] = useState<{ key: string; loaded: Loaded<T> }>({
    key,
    loaded: { state: 'loading' }
  })
  const [turn, setTurn] = useState(0)
  const latest = useRef(load)
  latest.current = load
  useEffect(() => {
    const leaving = new AbortController()
    const settle = (loaded: Loaded<T>): void => {
      if (!leaving.signal.aborted) setResult({ key, loaded })
    }
    latest.current(leaving.signal).then(
      value => settle({ state: 'there', value }),
      (error: unknown) => settle({ state: 'failed', error: asError(error) })
    )
    return () => leaving.abort()
  }, [key, turn])
  const again = useCallback(() => {
    // What is there stays until there is something newer; that it failed is nothing to look at meanwhile.
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

interface Gathered<T> {
  readonly name: string
  readonly rows: readonly T[]
  readonly cursor: string | null | undefined
  readonly error?: Error
}

/** What lists had when they were left: whoever comes back finds them so. The oldest is forgotten first. */
const kept = new Map<string, Gathered<unknown>>()
const MOST_KEPT = 50
const keep = (gathered: Gathered<unknown>): void => {
  kept.delete(gathered.name)
  kept.set(gathered.name, gathered)
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!)
}

/** Pages behind cursors, one after the other. No two lists of a view have the same key. */
export const usePages = <T>(
  key: string,
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>
): Pages<T> => {
  const name = `${useContext(Entry)} ${key}`
  const [gathered, setGathered] = useState<Gathered<T> | undefined>()
  const [wanted, setWanted] = useState({ name, count: 1 })
  const latest = useRef(load)
  latest.current = load
  const current =
    gathered?.name === name
      ? gathered
      : ((kept.get(name) as Gathered<T> | undefined) ?? { name, rows: [], cursor: undefined })
  const turn = wanted.name === name ? wanted.count : 1
  const [asked, setAsked] = useState<Gathered<T> | undefined>()
  const isAsked = asked === current
  useEffect(() => {
    const settle = (now: Gathered<T>): void => {
      if (leaving.signal.aborted) return
      if (!now.error) keep(now)
      setGathered(now)
    }
    const leaving = new AbortController()
    setGathered(current)
    // For whoever comes back, what was there is there.
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
