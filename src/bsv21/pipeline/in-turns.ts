import { setImmediate as nextTurn } from 'node:timers/promises'

/** As many as are worth a commit of their own. */
const AT_A_TIME = 50

/**
 * Works on all of them at once, but begins with a few at a time: what those write is on its way to the disk while the
 * next are worked on, and what they hold in memory is free again sooner.
 */
export const inTurns = async <T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> => {
  const working: Promise<R>[] = []
  for (const [i, item] of items.entries()) {
    if (i > 0 && i % AT_A_TIME === 0) await nextTurn()
    const one = work(item)
    // Whoever waits for all of them hears of it; until then it is not an error that nobody has seen.
    one.catch(() => undefined)
    working.push(one)
  }
  return Promise.all(working)
}
