/**
 * Writes take turns (BRC-35 §2.3). A turn is named by what is written, so that whoever writes the same thing waits,
 * through whichever object.
 */
const last = new Map<string, Promise<void>>()

/** Does the work when all that was to be done under this name before is over, however it ended. */
export const inTurn = <T>(name: string, work: () => Promise<T>): Promise<T> => {
  const done = (last.get(name) ?? Promise.resolve()).then(work)
  const over = done.then(nothing, nothing)
  last.set(name, over)
  over.then(() => {
    if (last.get(name) === over) last.delete(name)
  })
  return done
}

const nothing = (): void => {}
