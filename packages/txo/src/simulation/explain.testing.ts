/**
 * Whether there is an order of events that explains what happened: operations that run at once must come out as if they
 * had run one after the other, in some order, each commit whole (linearizability). Of operations that were cut off by a
 * crash any beginning may have happened. All orders are tried on the model, until one fits; those that come to where
 * another has been are not followed.
 */

import type { Model, Play } from './model.testing.ts'
import type { Lines } from './observe.testing.ts'
import { difference, expected } from './observe.testing.ts'
import type { Operation } from './operation.testing.ts'

/** An operation and what came of it; undefined if nobody heard. */
export interface Happened {
  readonly operation: Operation
  readonly outcome: string | undefined
}

/** More orders than that are not tried. */
const MAX_ORDERS = 50_000

/**
 * @param lanes What ran at once, each lane one after the other.
 * @param after What ran when all of them had ended, one after the other.
 * @param found What the index says then, if that was looked at.
 * @returns The model as it is then, or what speaks against it.
 */
export const explain = (
  before: Model,
  lanes: readonly (readonly Happened[])[],
  after: readonly Happened[],
  found?: Lines
): Model | string => {
  // Of the reasons, the one of an order that fits better than others.
  let reason = { weight: -1, text: '' }
  const choices = new Choices()
  for (let orders = 0; orders < MAX_ORDERS; orders++) {
    const model = before.clone()
    const wrong =
      weighted(0, playLanes(before, model, lanes, choices)) ??
      weighted(1, playRow(model, after)) ??
      weighted(2, found && difference(found, expected(model)))
    if (!wrong) return model
    if (wrong.weight > reason.weight) reason = wrong
    if (!choices.next()) return reason.text
  }
  throw new Error(`none of ${MAX_ORDERS} orders explains it: ${reason.text}`)
}

const weighted = (weight: number, text: string | undefined) =>
  text === undefined ? undefined : { weight, text }

/** Says what does not fit, or nothing. */
const playLanes = (
  before: Model,
  model: Model,
  lanes: readonly (readonly Happened[])[],
  choices: Choices
): string | undefined => {
  const isMoving = lanes.length > 1 && lanes.flat().some(({ operation }) => operation.kind === 'headers')
  const running = lanes
    .filter(lane => lane.length > 0)
    .map((lane, number) => ({ number, rest: [...lane], play: undefined as Play | undefined, state: '' }))
  while (running.length > 0) {
    const where = () => [
      ...running.map(({ number, rest, state }) => `${number} ${rest.length} ${state}`),
      model.changesSince(before)
    ]
    if (choices.isKnown(() => where().join('\n'))) return 'another order came to the same'
    const at = choices.choose(running.length)
    const lane = running[at]!
    const [{ operation, outcome }] = lane.rest as [Happened]
    // What nobody heard of may have ended here.
    if (outcome === undefined && choices.choose(2) === 1) {
      running.splice(at, 1)
      continue
    }
    lane.play ??= model.play(operation, isMoving)
    const step = lane.play.next()
    lane.state = step.done ? '' : step.value
    if (!step.done) continue
    const wrong = compare(operation, outcome, step.value)
    if (wrong !== undefined) return wrong
    lane.rest.shift()
    lane.play = undefined
    if (lane.rest.length === 0 || outcome === undefined) running.splice(at, 1)
  }
  return undefined
}

const playRow = (model: Model, row: readonly Happened[]): string | undefined => {
  for (const { operation, outcome } of row) {
    const wrong = compare(operation, outcome, played(model, operation))
    if (wrong !== undefined) return wrong
  }
  return undefined
}

/** Plays all of an operation. */
const played = (model: Model, operation: Operation): string => {
  const play = model.play(operation)
  for (;;) {
    const step = play.next()
    if (step.done) return step.value
  }
}

const compare = ({ kind }: Operation, outcome: string | undefined, wanted: string): string | undefined =>
  outcome === undefined || outcome === wanted ? undefined : `${kind}: ${outcome}; expected: ${wanted}`

/** A row of choices, and after it the next one, until there are no others. */
class Choices {
  readonly #places = new Set<string>()
  #row: { choice: number; readonly of: number }[] = []
  #at = 0

  choose(of: number): number {
    if (this.#at === this.#row.length) this.#row.push({ choice: 0, of })
    return this.#row[this.#at++]!.choice
  }

  /** Whether the next choice would be a new one, at a place where there was a choice before. */
  isKnown(place: () => string): boolean {
    if (this.#at < this.#row.length) return false
    const name = place()
    if (this.#places.has(name)) return true
    this.#places.add(name)
    return false
  }

  /** Goes on to the next row that begins otherwise; what was not reached does not count. */
  next(): boolean {
    this.#row.length = this.#at
    this.#at = 0
    for (let last = this.#row.pop(); last; last = this.#row.pop()) {
      if (last.choice + 1 === last.of) continue
      this.#row.push({ choice: last.choice + 1, of: last.of })
      return true
    }
    return false
  }
}
