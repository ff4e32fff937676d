/**
 * An automaton compiled for speed, in three stretches. At the start it often has one edge per state (every
 * hexadecimal txid begins with 64 digits): the `line`, where each byte is looked up without a state. A table of all
 * transitions follows. At the end often any byte is accepted (a tick is decided by two bytes): there only the number
 * of bytes is checked.
 */
import { ByteSet } from './byteset.ts'
import type { Automaton } from './language.ts'

interface Run {
  /** 1 for each byte of the run's set. */
  readonly member: Uint8Array
  /** The same for ASCII, so that looking up any other character gives undefined. */
  readonly ascii: Uint8Array
  /** The position after the run, from the start of the word. */
  readonly until: number
}

export class Matcher {
  readonly #line: readonly Run[]
  /** Whether a word may end at each position of the line. */
  readonly #mayEnd: Uint8Array
  /** The state after the line, times 256. */
  readonly #after: number
  /**
   * Indexed by state times 256 and byte: the next state times 256, or -1, or -2 - n when any n bytes end the word.
   */
  readonly #next: Int32Array
  readonly #accepting: Uint8Array

  constructor({ edges, accepting }: Automaton) {
    const line: { member: Uint8Array; ascii: Uint8Array; until: number }[] = []
    const mayEnd = [accepting[0]]
    const passed = new Set<number>()
    let last: ByteSet | undefined
    let state = 0
    while (edges[state]!.length === 1 && !passed.has(state)) {
      passed.add(state)
      const { set, to } = edges[state]![0]!
      if (last && set.equals(last)) line.at(-1)!.until++
      else {
        const member = Uint8Array.from({ length: 256 }, (_, byte) => (set.has(byte) ? 1 : 0))
        line.push({ member, ascii: member.slice(0, 0x80), until: passed.size })
      }
      last = set
      state = to
      mayEnd.push(accepting[state])
    }
    this.#line = line
    this.#mayEnd = Uint8Array.from(mayEnd, may => (may ? 1 : 0))
    this.#after = state << 8
    this.#accepting = Uint8Array.from(accepting, accepts => (accepts ? 1 : 0))
    const free = freeTails({ edges, accepting })
    this.#next = new Int32Array(edges.length << 8).fill(-1)
    edges.forEach((out, from) => {
      for (const { set, to } of out) {
        const code = free[to]! > 0 ? -2 - free[to]! : to << 8
        for (const byte of set) this.#next[(from << 8) | byte] = code
      }
    })
  }

  /**
   * The offset at which `bytes[start..end)` leaves the language, `end` for a proper prefix of a word, -1 for a word.
   */
  departs(bytes: Uint8Array, start: number, end: number): number {
    let i = start
    for (let r = 0; r < this.#line.length; r++) {
      const { member, until } = this.#line[r]!
      const stop = Math.min(start + until, end)
      i = membersEnd(member, bytes, i, stop)
      if (i < stop) return i
      if (i === end) return this.#mayEnd[i - start] ? -1 : end
    }
    let state = this.#after
    for (; i < end; i++) {
      state = this.#next[state | bytes[i]!]!
      if (state < 0) return state === -1 ? i : lengthDeparts(i + 1 + (-2 - state), end)
    }
    return this.#accepting[state >> 8] ? -1 : end
  }

  /** Runs from `start` as far as the automaton goes: the end, or -1 when the bytes are not a word. */
  runEnd(bytes: Uint8Array, start: number): number {
    const { length } = bytes
    let i = start
    for (let r = 0; r < this.#line.length; r++) {
      const { member, until } = this.#line[r]!
      i = membersEnd(member, bytes, i, Math.min(start + until, length))
      if (i < start + until) return this.#mayEnd[i - start] ? i : -1
    }
    let state = this.#after
    for (; i < length; i++) {
      const to = this.#next[state | bytes[i]!]!
      if (to < -1) return i + 1 + (-2 - to) <= length ? i + 1 + (-2 - to) : -1
      if (to < 0) break
      state = to
    }
    return this.#accepting[state >> 8] ? i : -1
  }

  /** The end of the shortest word that begins at `start`, or -1. */
  firstEnd(bytes: Uint8Array, start: number): number {
    let state = 0
    for (let i = start; i < bytes.length; i++) {
      if (this.#accepting[state >> 8]) return i
      state = this.#next[state | bytes[i]!]!
      if (state < -1) return i + 1 + (-2 - state) <= bytes.length ? i + 1 + (-2 - state) : -1
      if (state < 0) return -1
    }
    return this.#accepting[state >> 8] ? bytes.length : -1
  }

  /** Writes ASCII text that is a word: the offset after it, or -1 when it is not a word or does not fit. */
  writeAscii(text: string, target: Uint8Array, offset: number): number {
    const { length } = text
    if (offset + length > target.length) return -1
    let i = 0
    for (let r = 0; r < this.#line.length; r++) {
      const { ascii, until } = this.#line[r]!
      const stop = Math.min(until, length)
      for (; i + 4 <= stop; i += 4) {
        const a = text.charCodeAt(i)
        const b = text.charCodeAt(i + 1)
        const c = text.charCodeAt(i + 2)
        const d = text.charCodeAt(i + 3)
        if ((ascii[a]! & ascii[b]! & ascii[c]! & ascii[d]!) === 0) return -1
        target[offset + i] = a
        target[offset + i + 1] = b
        target[offset + i + 2] = c
        target[offset + i + 3] = d
      }
      for (; i < stop; i++) {
        const code = text.charCodeAt(i)
        if (!ascii[code]) return -1
        target[offset + i] = code
      }
      if (i === length) return this.#mayEnd[i] ? offset + i : -1
    }
    let state = this.#after
    for (; i < length; i++) {
      const code = text.charCodeAt(i)
      if (code > 0x7f) return -1
      state = this.#next[state | code]!
      if (state < 0) return -1
      target[offset + i] = code
    }
    return this.#accepting[state >> 8] ? offset + length : -1
  }
}

/**
 * The offset of the first byte of `bytes[from..to)` outside of the set, or `to`. Four at a time: half the cost of
 * this loop is the loop.
 */
const membersEnd = (member: Uint8Array, bytes: Uint8Array, from: number, to: number): number => {
  let i = from
  while (
    i + 4 <= to &&
    (member[bytes[i]!]! & member[bytes[i + 1]!]! & member[bytes[i + 2]!]! & member[bytes[i + 3]!]!) !== 0
  ) {
    i += 4
  }
  while (i < to && member[bytes[i]!] !== 0) i++
  return i
}

/** The departure of a word of fixed length: its end when too short, the byte after its last one when too long. */
const lengthDeparts = (last: number, end: number): number => (last === end ? -1 : Math.min(last, end))

/** For each state, the n when its completions are exactly all sequences of n bytes, or -1. */
export const freeTails = ({ edges, accepting }: Automaton): readonly number[] => {
  const free: number[] = []
  const visit = (state: number): number => {
    free[state] ??= tail(state)
    return free[state]
  }
  const tail = (state: number): number => {
    const [edge, ...more] = edges[state]!
    if (!edge) return 0
    if (more.length > 0 || accepting[state] || !edge.set.equals(ByteSet.all)) return -1
    const rest = visit(edge.to)
    return rest < 0 ? -1 : rest + 1
  }
  edges.forEach((_, state) => {
    visit(state)
  })
  return free
}
