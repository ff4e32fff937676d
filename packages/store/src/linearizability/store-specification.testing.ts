/**
 * The structures of a store as a sequential specification: a map of cells, written apart from the engines and from the
 * model of the contract. `operations.ts` defines the steps.
 */
import type { Specification } from './checker.testing.ts'

/** A condition or an operation of a batch: `['hset', key, field, value]`. */
export type TextStep = readonly [name: string, ...args: (string | number)[]]
/** A read of one statement: `['hget', key, field]`. */
export type TextRead = readonly [name: string, ...args: string[]]

export type Request =
  | { readonly batch: readonly TextStep[] }
  | { readonly read: TextRead }
  | { readonly snapshot: readonly TextRead[] }

/** The answers of a batch, the index of the condition that refused it, or the results of reads. */
export type Response =
  | { readonly answers: readonly unknown[] }
  | { readonly refusedBy: number }
  | { readonly found: readonly unknown[] }

/** `v key`, `h key field`, `s key member`, `z key member`, `q key item` → `due` or the token of the lease. */
type Cells = ReadonlyMap<string, string | number>
export interface State {
  readonly cells: Cells
  readonly key: string
}

const stateOf = (cells: Cells): State => ({
  cells,
  key: JSON.stringify([...cells].sort(([a], [b]) => (a < b ? -1 : 1)))
})

/**
 * @param leases `all`: a lease gives the first items that are due. `some`: it may pass over items that another
 * transaction has locked (`SKIP LOCKED`), and gives any of them.
 */
export const storeSpecification = (leases: 'all' | 'some'): Specification<State, Request, Response> => ({
  initial: stateOf(new Map()),
  keyOf: ({ key }) => key,
  outcomes: (state, request) => {
    if (!('batch' in request)) {
      const reads = 'read' in request ? [request.read] : request.snapshot
      return [{ response: { found: reads.map(read => readOf(state.cells, read)) }, state }]
    }
    const conditions = request.batch.filter(([name]) => isCondition(name))
    const refusedBy = conditions.findIndex(condition => !holds(state.cells, condition))
    if (refusedBy >= 0) return [{ response: { refusedBy }, state }]
    const operations = request.batch.filter(([name]) => !isCondition(name))
    return resultsOf(state.cells, operations, leases).map(({ cells, answers }) => ({
      response: { answers },
      state: stateOf(cells)
    }))
  }
})

const CONDITIONS: Readonly<Record<string, (cells: Cells, ...args: never[]) => boolean>> = {
  valueIs: (cells, key: string, expected: string) => cells.get(`v ${key}`) === expected,
  valueAbsent: (cells, key: string) => !cells.has(`v ${key}`),
  fieldIs: (cells, key: string, field: string, expected: string) =>
    cells.get(`h ${key} ${field}`) === expected,
  fieldAbsent: (cells, key: string, field: string) => !cells.has(`h ${key} ${field}`),
  scoreIs: (cells, key: string, member: string, score: number) => cells.get(`z ${key} ${member}`) === score,
  scoreAbsent: (cells, key: string, member: string) => !cells.has(`z ${key} ${member}`),
  memberPresent: (cells, key: string, member: string) => cells.has(`s ${key} ${member}`),
  memberAbsent: (cells, key: string, member: string) => !cells.has(`s ${key} ${member}`),
  leaseHeld: (cells, key: string, item: string, token: string) => cells.get(`q ${key} ${item}`) === token
}
const isCondition = (name: string): boolean => Object.hasOwn(CONDITIONS, name)
const holds = (cells: Cells, [name, ...args]: TextStep): boolean =>
  CONDITIONS[name]!(cells, ...(args as never[]))

interface Result {
  readonly cells: Map<string, string | number>
  readonly answers: readonly unknown[]
}

const resultsOf = (cells: Cells, operations: readonly TextStep[], leases: 'all' | 'some'): Result[] => {
  let results: Result[] = [{ cells: new Map(cells), answers: [] }]
  for (const [name, ...args] of operations) {
    if (name === 'lease') {
      const [key, token, count] = args as [string, string, number]
      results = results.flatMap(result => leased(result, key, token, count, leases))
    } else {
      results = results.map(result => {
        const answer = OPERATIONS[name]!(result.cells, ...(args as never[]))
        return answer === undefined ? result : { ...result, answers: [...result.answers, answer] }
      })
    }
  }
  return results
}

type Contents = Map<string, string | number>
/** Answers the score where the operation has an answer. */
type Write = (cells: Contents, ...args: never[]) => number | undefined
const writes =
  <Args extends (string | number)[]>(write: (cells: Contents, ...args: Args) => unknown) =>
  (cells: Contents, ...args: Args): undefined => {
    write(cells, ...args)
  }
const OPERATIONS: Readonly<Record<string, Write>> = {
  set: writes((cells, key: string, value: string) => cells.set(`v ${key}`, value)),
  del: writes((cells, key: string) => cells.delete(`v ${key}`)),
  hset: writes((cells, key: string, field: string, value: string) => cells.set(`h ${key} ${field}`, value)),
  hdel: writes((cells, key: string, field: string) => cells.delete(`h ${key} ${field}`)),
  sadd: writes((cells, key: string, member: string) => cells.set(`s ${key} ${member}`, '')),
  srem: writes((cells, key: string, member: string) => cells.delete(`s ${key} ${member}`)),
  zadd: writes((cells, key: string, member: string, score: number) => cells.set(`z ${key} ${member}`, score)),
  zrem: writes((cells, key: string, member: string) => cells.delete(`z ${key} ${member}`)),
  zincrby: (cells, key: string, member: string, increment: number) => {
    const score = ((cells.get(`z ${key} ${member}`) as number | undefined) ?? 0) + increment
    cells.set(`z ${key} ${member}`, score)
    return score
  },
  zcounter: writes((cells, key: string, member: string, increment: number) => {
    const score = ((cells.get(`z ${key} ${member}`) as number | undefined) ?? 0) + increment
    if (score === 0) cells.delete(`z ${key} ${member}`)
    else cells.set(`z ${key} ${member}`, score)
  }),
  append: writes((cells, key: string, entry: string) => {
    if (cells.has(`z ${key} ${entry}`)) return
    const position = ((cells.get(`z ${key} `) as number | undefined) ?? 0) + 1
    cells.set(`z ${key} ${entry}`, position).set(`z ${key} `, position)
  }),
  enqueue: writes((cells, key: string, item: string) => {
    if (!cells.has(`q ${key} ${item}`)) cells.set(`q ${key} ${item}`, 'due')
  }),
  remove: writes((cells, key: string, item: string) => cells.delete(`q ${key} ${item}`))
}

const leased = (
  { cells, answers }: Result,
  key: string,
  token: string,
  count: number,
  leases: 'all' | 'some'
): Result[] => {
  const due = namesUnder(cells, `q ${key} `).filter(item => cells.get(`q ${key} ${item}`) === 'due')
  const choices =
    leases === 'all' ? [due.slice(0, count)] : subsets(due).filter(items => items.length <= count)
  return choices.map(items => {
    const after = new Map(cells)
    for (const item of items) after.set(`q ${key} ${item}`, token)
    return { cells: after, answers: [...answers, items] }
  })
}

const subsets = <T>([first, ...rest]: readonly T[]): T[][] => {
  if (first === undefined) return [[]]
  const others = subsets(rest)
  return [...others.map(each => [first, ...each]), ...others]
}

const READS: Readonly<Record<string, (cells: Cells, ...args: string[]) => unknown>> = {
  get: (cells, key) => cells.get(`v ${key}`) ?? null,
  hget: (cells, key, field) => cells.get(`h ${key} ${field}`) ?? null,
  hgetall: (cells, key) =>
    namesUnder(cells, `h ${key} `).map(field => [field, cells.get(`h ${key} ${field}`)]),
  smembers: (cells, key) => namesUnder(cells, `s ${key} `),
  zscore: (cells, key, member) => cells.get(`z ${key} ${member}`) ?? null,
  zcard: (cells, key) => namesUnder(cells, `z ${key} `).length,
  zrows: (cells, key) =>
    namesUnder(cells, `z ${key} `)
      .map((member): [string, number] => [member, cells.get(`z ${key} ${member}`) as number])
      .sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1)),
  /** The items that are due, and the ones that are leased. */
  due: (cells, key) => namesUnder(cells, `q ${key} `).filter(item => cells.get(`q ${key} ${item}`) === 'due'),
  leased: (cells, key) =>
    namesUnder(cells, `q ${key} `).filter(item => cells.get(`q ${key} ${item}`) !== 'due')
}
const readOf = (cells: Cells, [name, ...args]: TextRead): unknown => READS[name]!(cells, ...args)

const namesUnder = (cells: Cells, prefix: string): string[] =>
  [...cells.keys()]
    .filter(cell => cell.startsWith(prefix))
    .map(cell => cell.slice(prefix.length))
    .sort()
