/**
 * Compiles a pattern to its minimal deterministic automaton: Thompson's construction, subsets, then Hopcroft's
 * minimisation. The alphabet is first divided into the classes of bytes that the pattern distinguishes.
 */
import { QuoinError } from '@quoin/primitives'
import { ByteSet } from './byteset.ts'
import type { Automaton, Edge } from './language.ts'
import type { Length, Pattern } from './pattern.ts'

/** The limit on states of a component: proofs take time in the square of it. */
export const MAX_STATES = 4096
/** The limit on states before minimisation. */
const MAX_INTERIM = 16 * MAX_STATES

/** The automaton of the words of a pattern whose length in bytes is within bounds. */
export const determinise = (pattern: Pattern, length: Length = {}): Automaton => {
  const nfa = thompson(pattern)
  const atoms = alphabetAtoms(nfa)
  return minimise(bounded(subsets(nfa, atoms), length), atoms)
}

interface Nfa {
  readonly jumps: number[][]
  readonly moves: ({ atoms: number[]; set: ByteSet; to: number } | undefined)[]
  readonly start: number
  readonly end: number
}

interface Table {
  readonly next: number[][]
  readonly accepting: boolean[]
}

const thompson = (pattern: Pattern): Nfa => {
  const jumps: number[][] = []
  const moves: Nfa['moves'] = []
  const state = (): number => {
    if (jumps.length > MAX_INTERIM) throw tooLarge()
    moves.push(undefined)
    return jumps.push([]) - 1
  }
  const build = (node: Pattern, from: number): number => {
    switch (node.kind) {
      case 'set': {
        const to = state()
        if (node.set.isEmpty) return to
        const mid = state()
        jumps[from]!.push(mid)
        moves[mid] = { atoms: [], set: node.set, to }
        return to
      }
      case 'seq':
        return node.parts.reduce((at, part) => build(part, at), from)
      case 'alt': {
        const to = state()
        for (const option of node.options) {
          const entry = state()
          jumps[from]!.push(entry)
          jumps[build(option, entry)]!.push(to)
        }
        return to
      }
      case 'repeat': {
        let at = from
        for (let i = 0; i < node.min; i++) at = build(node.of, at)
        const to = state()
        if (node.max === Number.POSITIVE_INFINITY) {
          const loop = state()
          jumps[at]!.push(loop)
          jumps[build(node.of, loop)]!.push(loop)
          jumps[loop]!.push(to)
          return to
        }
        for (let i = node.min; i < node.max; i++) {
          jumps[at]!.push(to)
          at = build(node.of, at)
        }
        jumps[at]!.push(to)
        return to
      }
      case 'language': {
        const { edges, accepting } = node.language
        const to = state()
        const states = edges.map(state)
        jumps[from]!.push(states[0]!)
        edges.forEach((out, i) => {
          if (accepting[i]) jumps[states[i]!]!.push(to)
          for (const edge of out) {
            const mid = state()
            jumps[states[i]!]!.push(mid)
            moves[mid] = { atoms: [], set: edge.set, to: states[edge.to]! }
          }
        })
        return to
      }
    }
  }
  const start = state()
  return { jumps, moves, start, end: build(pattern, start) }
}

/** The coarsest partition of the bytes that every move of the automaton respects. */
const alphabetAtoms = ({ moves }: Nfa): ByteSet[] => {
  let atoms = [ByteSet.all]
  for (const move of moves) {
    if (!move || atoms.some(atom => atom.equals(move.set))) continue
    atoms = atoms.flatMap(atom =>
      [atom.meet(move.set), atom.minus(move.set)].filter(part => part && !part.isEmpty)
    ) as ByteSet[]
  }
  for (const move of moves) {
    if (move) move.atoms = atoms.flatMap((atom, i) => (move.set.has(atom.min) ? [i] : []))
  }
  return atoms
}

const subsets = (nfa: Nfa, atoms: ByteSet[]): Table => {
  const index = new Map<string, number>()
  const members: number[][] = []
  const next: number[][] = []
  const close = (states: Iterable<number>): number => {
    const seen = new Set(states)
    for (const state of seen) for (const to of nfa.jumps[state]!) seen.add(to)
    const list = [...seen].filter(state => nfa.moves[state] || state === nfa.end).sort((a, b) => a - b)
    const key = list.join()
    let id = index.get(key)
    if (id === undefined) {
      id = members.push(list) - 1
      if (id > MAX_INTERIM) throw tooLarge()
      index.set(key, id)
    }
    return id
  }
  close([nfa.start])
  for (let id = 0; id < members.length; id++) {
    const targets = atoms.map((): number[] => [])
    for (const state of members[id]!) {
      const move = nfa.moves[state]
      if (move) for (const atom of move.atoms) targets[atom]!.push(move.to)
    }
    next.push(targets.map(close))
  }
  return { next, accepting: members.map(list => list.includes(nfa.end)) }
}

/** The words with a length within bounds: the product with a counter that stops at `min` when there is no maximum. */
const bounded = (table: Table, { min = 0, max = Number.POSITIVE_INFINITY }: Length): Table => {
  if (min === 0 && max === Number.POSITIVE_INFINITY) return table
  const top = max === Number.POSITIVE_INFINITY ? min : max + 1
  const width = table.next.length
  if (width * (top + 1) > MAX_INTERIM) throw tooLarge()
  const next: number[][] = []
  const accepting: boolean[] = []
  for (let count = 0; count <= top; count++) {
    const after = Math.min(count + 1, top)
    table.next.forEach((targets, state) => {
      next.push(targets.map(to => after * width + to))
      accepting.push(table.accepting[state]! && count >= min && count <= max)
    })
  }
  return { next, accepting }
}

const minimise = (table: Table, atoms: ByteSet[]): Automaton => {
  const { next, accepting } = table
  const block = blocksOf(table, atoms.length)
  const live = liveBlocks(next, accepting, block)
  if (!live.has(block[0]!)) return { edges: [], accepting: [] }

  // Blocks are numbered in the order of a breadth-first walk, so that equal languages have equal data.
  const number = new Map([[block[0]!, 0]])
  const order = [0]
  const edges: Edge[][] = []
  for (const state of order) {
    const out = new Map<number, ByteSet>()
    next[state]!.forEach((to, atom) => {
      const target = block[to]!
      if (!live.has(target)) return
      if (!number.has(target)) {
        number.set(target, order.length)
        order.push(to)
      }
      const id = number.get(target)!
      out.set(id, (out.get(id) ?? ByteSet.of()).union(atoms[atom]!))
    })
    edges.push(Array.from(out, ([to, set]) => ({ set, to })))
  }
  if (order.length > MAX_STATES) throw tooLarge()
  return { edges, accepting: order.map(state => accepting[state]!) }
}

/**
 * The block of each state; states of one block accept the same completions. Hopcroft's algorithm: a block that leads
 * into a splitter from only some of its states is split, and the smaller half becomes a splitter.
 */
const blocksOf = ({ next, accepting }: Table, atoms: number): number[] => {
  const sources = Array.from({ length: atoms }, (): number[][] => next.map(() => []))
  next.forEach((targets, state) => {
    targets.forEach((to, atom) => {
      sources[atom]![to]!.push(state)
    })
  })
  const block: number[] = accepting.map(accepts => (accepts ? 1 : 0))
  const members = [0, 1].map(id => new Set(block.flatMap((is, state) => (is === id ? [state] : []))))
  const pending = [members[1]!.size < members[0]!.size ? 1 : 0]
  for (let splitter = pending.pop(); splitter !== undefined; splitter = pending.pop()) {
    const leaders = [...members[splitter]!]
    for (let atom = 0; atom < atoms; atom++) {
      const touched = new Map<number, number[]>()
      for (const to of leaders) {
        for (const state of sources[atom]![to]!) {
          const of = touched.get(block[state]!)
          if (of) of.push(state)
          else touched.set(block[state]!, [state])
        }
      }
      for (const [id, states] of touched) {
        const whole = members[id]!
        if (states.length === whole.size) continue
        const fresh = members.push(new Set(states)) - 1
        for (const state of states) {
          whole.delete(state)
          block[state] = fresh
        }
        // Splitting by either half is enough, unless the block itself is still a splitter.
        pending.push(pending.includes(id) || states.length <= whole.size ? fresh : id)
      }
    }
  }
  return block
}

const liveBlocks = (next: number[][], accepting: boolean[], block: number[]): Set<number> => {
  const live = new Set(block.filter((_, state) => accepting[state]))
  for (let before = -1; before !== live.size; ) {
    before = live.size
    next.forEach((targets, state) => {
      if (targets.some(to => live.has(block[to]!))) live.add(block[state]!)
    })
  }
  return live
}

const tooLarge = (): QuoinError =>
  new QuoinError('ERR_KEYSPACE_TOO_LARGE', `a component needs more than ${MAX_STATES} states`, {
    limit: MAX_STATES
  })
