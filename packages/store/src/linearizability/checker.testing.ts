/**
 * Checks whether a history of concurrent calls is linearizable: whether each call can take effect at one moment between
 * its invocation and its reply, in an order that a sequential specification allows. The search is of Wing and Gong, with
 * the memo of Lowe ("Testing for linearizability", 2017): no pair of completed calls and state is visited twice.
 */

/** Times are of a clock that all clients share. */
export interface Call<Request, Response> {
  readonly client: string
  readonly request: Request
  readonly invoked: number
  /** Without a reply the outcome is unknown: the call takes effect at any moment after its invocation, or never. */
  readonly reply?: { readonly at: number; readonly response: Response }
}

interface Outcome<State, Response> {
  readonly response: Response
  readonly state: State
}

export interface Specification<State, Request, Response> {
  readonly initial: State
  /** The responses that a request may have in a state, each with the state after it. Responses are plain data. */
  outcomes(state: State, request: Request): readonly Outcome<State, Response>[]
  /** Equal for states that no later request can tell apart. */
  keyOf(state: State): string
}

export interface Verdict<Request, Response> {
  readonly isLinearizable: boolean
  /** The order of a linearization, or the longest order that the search found. */
  readonly order: readonly Call<Request, Response>[]
  /** The calls of which none can follow that order; empty for a linearizable history. */
  readonly stuck: readonly Call<Request, Response>[]
}

interface Node<State> {
  readonly state: State
  readonly done: bigint
  readonly left: number
  /** Calls in their order, as a list from the last one back. */
  readonly last: { readonly index: number; readonly before: Node<State>['last'] } | undefined
  readonly length: number
}

export const checkHistory = <State, Request, Response>(
  history: readonly Call<Request, Response>[],
  specification: Specification<State, Request, Response>
): Verdict<Request, Response> => {
  const calls = history.toSorted((a, b) => a.invoked - b.invoked)
  const replied = calls.filter(({ reply }) => reply).length
  const first: Node<State> = {
    state: specification.initial,
    done: 0n,
    left: replied,
    last: undefined,
    length: 0
  }
  const seen = new Set<string>()
  const open = [first]
  let longest = first
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.length > longest.length) longest = node
    if (node.left === 0) return { isLinearizable: true, order: orderOf(calls, node), stuck: [] }
    for (const index of candidates(calls, node.done)) {
      const { request, reply } = calls[index]!
      const done = node.done | (1n << BigInt(index))
      for (const { response, state } of specification.outcomes(node.state, request)) {
        if (reply && !isSame(response, reply.response)) continue
        const key = `${done.toString(36)} ${specification.keyOf(state)}`
        if (seen.has(key)) continue
        seen.add(key)
        open.push({
          state,
          done,
          left: node.left - (reply ? 1 : 0),
          last: { index, before: node.last },
          length: node.length + 1
        })
      }
    }
  }
  const stuck = candidates(calls, longest.done).map(index => calls[index]!)
  return { isLinearizable: false, order: orderOf(calls, longest), stuck: stuck.filter(({ reply }) => reply) }
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The calls that no other one precedes: they were invoked before each of the open ones had its reply. */
const candidates = (calls: readonly Call<unknown, unknown>[], done: bigint): number[] => {
  const found: number[] = []
  let firstReply = Number.POSITIVE_INFINITY
  for (const [index, { invoked, reply }] of calls.entries()) {
    // Calls are in the order of their invocations.
    if (invoked > firstReply) break
    if (done & (1n << BigInt(index))) continue
    found.push(index)
    if (reply && reply.at < firstReply) firstReply = reply.at
  }
  return found.filter(index => calls[index]!.invoked <= firstReply)
}

const orderOf = <C>(calls: readonly C[], { last }: Node<unknown>): C[] => {
  const order: C[] = []
  for (let at = last; at; at = at.before) order.push(calls[at.index]!)
  return order.reverse()
}
