/** What a view has asked for: on its way, there, or not to be had. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

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
  const again = useCallback(() => setTurn(each => each + 1), [])
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
  readonly key: string
  readonly rows: readonly T[]
  readonly cursor: string | null | undefined
  readonly error?: Error
}

/** Pages behind cursors, one after the other. */
export const usePages = <T>(
  key: string,
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>
): Pages<T> => {
  const nothing: Gathered<T> = { key, rows: [], cursor: undefined }
  const [gathered, setGathered] = useState(nothing)
  const [wanted, setWanted] = useState({ key, count: 1 })
  const latest = useRef(load)
  latest.current = load
  const current = gathered.key === key ? gathered : nothing
  const turn = wanted.key === key ? wanted.count : 1
  useEffect(() => {
    if (current.cursor === null) return
    const leaving = new AbortController()
    latest.current(current.cursor, leaving.signal).then(
      ({ rows, cursor }) => {
        if (!leaving.signal.aborted) setGathered({ key, rows: [...current.rows, ...rows], cursor })
      },
      (error: unknown) => {
        if (!leaving.signal.aborted) setGathered({ ...current, error: asError(error) })
      }
    )
    return () => leaving.abort()
  }, [key, turn])
  const [asked, setAsked] = useState<Gathered<T> | undefined>()
  const isAsked = asked === current
  const more = (): void => {
    if (isAsked || current.cursor === null) return
    setAsked(current)
    setWanted({ key, count: turn + 1 })
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
