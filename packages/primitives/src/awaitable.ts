/** Values that may be at hand: whoever has one gives it without a promise, and nobody waits for it. */
export type Awaitable<T> = T | Promise<T>

export const isPending = <T>(value: Awaitable<T>): value is Promise<T> =>
  typeof value === 'object' && value !== null && 'then' in value

/** What `next` makes of a value, at once if that is at hand. */
export const andThen = <T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> =>
  isPending(value) ? value.then(next) : next(value)

/** All of them, at once if they are at hand. */
export const together = <const T extends readonly unknown[]>(
  values: {
    [K in keyof T]: Awaitable<T[K]>
  }
): Awaitable<T> => (values.some(isPending) ? (Promise.all(values) as Promise<T>) : (values as unknown as T))

/** Does the work for each, one after the other. */
export const inOrder = <T>(items: Iterable<T>, work: (item: T) => Awaitable<void>): Awaitable<void> =>
  [...items].reduce<Awaitable<void>>((before, item) => andThen(before, () => work(item)), undefined)
