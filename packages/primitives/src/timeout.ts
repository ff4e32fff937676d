/** Timers of promises, for Node and browsers. */

export interface SleepOptions {
  /** Ends the sleep early; the promise resolves then as well. */
  readonly signal?: AbortSignal | undefined
  /** False for a sleep that does not keep the process running. */
  readonly ref?: boolean
}

export const sleep = (milliseconds: number, { signal, ref = true }: SleepOptions = {}): Promise<void> =>
  new Promise(resolve => {
    if (signal?.aborted) return resolve()
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    if (!ref) unref(timer)
    signal?.addEventListener('abort', end)
  })

/**
 * The result of a promise, or of `onTimeout` when the promise is pending for so long. `onTimeout` may throw. The work
 * behind the promise is not stopped.
 */
export const withTimeout = async <T, L>(
  work: Promise<T>,
  milliseconds: number,
  onTimeout: () => L
): Promise<T | L> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<undefined>(resolve => {
    timer = setTimeout(resolve, milliseconds, undefined)
  })
  try {
    return await Promise.race([work, late.then(onTimeout)])
  } finally {
    clearTimeout(timer)
  }
}

/** Lets the process end while the timer is pending. Browsers have no such method. */
export const unref = (timer: ReturnType<typeof setTimeout>): void => {
  ;(timer as { unref?: () => void }).unref?.()
}
