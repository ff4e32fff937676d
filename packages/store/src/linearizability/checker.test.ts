/** The checker refuses histories that are known to be wrong, and accepts every history that a sequential store has. */
import { expect, it } from 'vitest'
import { newRandom } from '../../../../test/faults/random.ts'
import { type Call, checkHistory } from './checker.testing.ts'
import { randomRequests } from './random-requests.testing.ts'
import { type Request, type Response, storeSpecification } from './store-specification.testing.ts'

const SEED = Number(process.env['QUOIN_SEED'])
type StoreCall = Call<Request, Response>

const call = (request: Request, response: Response | undefined, invoked: number, at: number): StoreCall => ({
  client: `from ${invoked}`,
  request,
  invoked,
  ...(response && { reply: { at, response } })
})
const get = (value: string | null, invoked: number, at: number) =>
  call({ read: ['get', 'v'] }, { found: [value] }, invoked, at)
const set = (value: string, invoked: number, at: number) =>
  call({ batch: [['set', 'v', value]] }, { answers: [] }, invoked, at)
const add = (answer: number, invoked: number, at: number) =>
  call({ batch: [['zincrby', 'z', 'm', 1]] }, { answers: [answer] }, invoked, at)
const enqueue = (invoked: number, at: number) =>
  call({ batch: [['enqueue', 'q', 'm', 0, 1]] }, { answers: [] }, invoked, at)
const lease = (token: string, items: string[], invoked: number, at: number) =>
  call({ batch: [['lease', 'q', token, 1, 9, 9, 1, 1]] }, { answers: [items] }, invoked, at)
const swap = (from: string, to: string, invoked: number, at: number, isDone = true) =>
  call(
    {
      batch: [
        ['valueIs', 'v', from],
        ['set', 'v', to]
      ]
    },
    isDone ? { answers: [] } : { refusedBy: 0 },
    invoked,
    at
  )
const lost = (request: Request, invoked: number) => call(request, undefined, invoked, 0)
const verdict = (...history: StoreCall[]): boolean =>
  checkHistory(history, storeSpecification('all')).isLinearizable

it('refuses a stale read, and accepts a concurrent one', () => {
  expect(verdict(set('1', 0, 1), set('2', 2, 3), get('1', 4, 5))).toBe(false)
  expect(verdict(set('1', 0, 1), set('2', 2, 5), get('1', 4, 6))).toBe(true)
  // What one reader has seen no later reader misses.
  expect(verdict(set('1', 0, 1), set('2', 2, 9), get('2', 3, 4), get('1', 5, 6))).toBe(false)
})

it('refuses a lost update', () => {
  expect(verdict(add(1, 0, 5), add(1, 1, 6))).toBe(false)
  expect(verdict(add(1, 0, 5), add(2, 1, 6))).toBe(true)
  expect(verdict(set('0', 0, 1), swap('0', '1', 2, 5), swap('0', '2', 3, 6))).toBe(false)
  expect(verdict(set('0', 0, 1), swap('0', '1', 2, 5), swap('0', '2', 3, 6, false))).toBe(true)
})

it('refuses a lease that two workers have', () => {
  expect(verdict(enqueue(0, 1), lease('a', ['m'], 2, 5), lease('b', ['m'], 3, 6))).toBe(false)
  expect(verdict(enqueue(0, 1), lease('a', ['m'], 2, 5), lease('b', [], 3, 6))).toBe(true)
  const none = [enqueue(0, 1), lease('a', [], 2, 3)]
  expect(verdict(...none)).toBe(false)
  expect(checkHistory(none, storeSpecification('some')).isLinearizable).toBe(true)
})

it('refuses a batch that is seen in part, and a log with a position twice', () => {
  const both = { batch: [['set', 'v', '1'] as const, ['hset', 'h', 'f', '1'] as const] }
  const look = (found: unknown[], invoked: number) =>
    call(
      {
        snapshot: [
          ['get', 'v'],
          ['hget', 'h', 'f']
        ]
      },
      { found },
      invoked,
      invoked + 1
    )
  expect(verdict(call(both, { answers: [] }, 0, 9), look(['1', null], 1))).toBe(false)
  expect(verdict(call(both, { answers: [] }, 0, 9), look(['1', '1'], 1))).toBe(true)
  const append = (entry: string) => call({ batch: [['append', 'l', entry]] }, { answers: [] }, 0, 5)
  const rows = (...found: [string, number][]) => call({ read: ['zrows', 'l'] }, { found: [found] }, 6, 7)
  expect(verdict(append('a'), append('b'), rows(['', 1], ['a', 1], ['b', 1]))).toBe(false)
  expect(verdict(append('a'), append('b'), rows(['a', 1], ['', 2], ['b', 2]))).toBe(true)
})

it('lets a call without a reply take effect late, once or never', () => {
  const unknown = lost({ batch: [['zincrby', 'z', 'm', 1]] }, 0)
  expect(verdict(unknown, add(1, 1, 2), add(3, 8, 9))).toBe(true)
  expect(verdict(unknown, add(1, 1, 2), add(2, 8, 9))).toBe(true)
  expect(verdict(unknown, add(1, 1, 2), add(4, 8, 9))).toBe(false)
})

it('says which calls have no place in the order', () => {
  const stale = get('1', 4, 5)
  const { order, stuck } = checkHistory([set('1', 0, 1), set('2', 2, 3), stale], storeSpecification('all'))
  expect([order.length, stuck]).toEqual([2, [stale]])
})

/** A history of a sequential store: each call takes effect at a moment of its own within its interval. */
const sequentialHistory = (seed: number): StoreCall[] => {
  const random = newRandom(seed)
  const specification = storeSpecification('all')
  const calls = ['a', 'b', 'c'].flatMap(client => {
    let time = 0
    return randomRequests(random, 'r', client, 8).map(request => {
      const invoked = time + random.real()
      const effect = invoked + 3 * random.real()
      time = effect + 3 * random.real()
      return { client, request, invoked, effect, at: time }
    })
  })
  let { initial: state } = specification
  return calls
    .toSorted((a, b) => a.effect - b.effect)
    .map(({ client, request, invoked, at }) => {
      const [outcome] = specification.outcomes(state, request)
      state = outcome!.state
      return { client, request, invoked, reply: { at, response: outcome!.response } }
    })
}

it('accepts histories of a sequential store, and refuses them with one response of another', () => {
  let refused = 0
  let changed = 0
  for (let seed = SEED; seed < SEED + 60; seed++) {
    const history = sequentialHistory(seed)
    expect(checkHistory(history, storeSpecification('all')), `seed ${seed}`).toMatchObject({
      isLinearizable: true
    })
    const random = newRandom(seed)
    const index = random.below(history.length)
    const { reply } = history[index]!
    const other = random.pick(history).reply!
    if (JSON.stringify(reply!.response) === JSON.stringify(other.response)) continue
    const wrong = history.with(index, { ...history[index]!, reply: { ...reply!, response: other.response } })
    changed++
    if (!checkHistory(wrong, storeSpecification('all')).isLinearizable) refused++
  }
  expect(changed).toBeGreaterThan(20)
  expect(refused / changed).toBeGreaterThan(0.7)
})
