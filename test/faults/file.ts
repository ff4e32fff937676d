/** A file on a disk that may lose its power: its durable bytes, and the writes since. */
import type { Random } from './random.ts'
import type { Range } from './trace.ts'

/** The units of atomic writes: of the disk, and of the page cache. */
const SECTOR = 512
const PAGE = 4096

type Change =
  | { readonly at: number; readonly data: Uint8Array }
  /** The file was truncated, or extended by zeros. */
  | { readonly size: number }

/** Growing bytes. */
class Content {
  #bytes: Uint8Array
  #size: number

  constructor(bytes: Uint8Array = new Uint8Array()) {
    this.#bytes = bytes.slice()
    this.#size = bytes.length
  }

  get size(): number {
    return this.#size
  }

  write(at: number, data: Uint8Array): void {
    if (at + data.length > this.#size) this.resize(at + data.length)
    this.#bytes.set(data, at)
  }

  resize(size: number): void {
    if (size > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(size, this.#bytes.length * 2))
      larger.set(this.#bytes.subarray(0, this.#size))
      this.#bytes = larger
    } else if (size < this.#size) {
      this.#bytes.fill(0, size, this.#size)
    }
    this.#size = size
  }

  apply(change: Change): void {
    if ('size' in change) this.resize(change.size)
    else this.write(change.at, change.data)
  }

  bytes(): Uint8Array {
    return this.#bytes.slice(0, this.#size)
  }
}

/** The fate of the writes since the last sync at a power loss. */
const STYLES = ['all', 'none', 'in order', 'zeros', 'pages', 'pages', 'sectors', 'sectors'] as const

export class SimulatedFile {
  readonly #durable: Content
  /** The view of the processes, with all writes. */
  readonly #cached: Content
  #pending: Change[] = []

  constructor(durable?: Uint8Array) {
    this.#durable = new Content(durable)
    this.#cached = new Content(durable)
  }

  get durable(): Uint8Array {
    return this.#durable.bytes()
  }

  get cached(): Uint8Array {
    return this.#cached.bytes()
  }

  change(change: Change): void {
    this.#cached.apply(change)
    this.#pending.push(change)
  }

  /** Syncs a range: a write through a synchronous descriptor syncs its own range alone. */
  sync(range?: Range): void {
    for (const change of this.#take(range)) this.#durable.apply(change)
  }

  /**
   * The system marks the pages clean without having written all of them, so no later sync writes them. The pages that
   * it wrote are durable.
   */
  failSync(random: Random, range?: Range): void {
    const tried = this.#take(range)
    if (random.real() < 0.5) scatter(this.#durable, tried, random.pick([SECTOR, PAGE]), random)
  }

  /** The changes in the pages of a range. */
  #take(range: Range | undefined): Change[] {
    if (!range) return this.#pending.splice(0)
    const from = range.at - (range.at % PAGE)
    const to = Math.ceil((range.at + range.size) / PAGE) * PAGE
    const taken: Change[] = []
    this.#pending = this.#pending.flatMap(change => {
      if ('size' in change || change.at >= to || change.at + change.data.length <= from) return [change]
      const { at, data } = change
      const [start, end] = [Math.max(from - at, 0), Math.min(to - at, data.length)]
      taken.push({ at: at + start, data: data.subarray(start, end) })
      return [
        { at, data: data.subarray(0, start) },
        { at: at + end, data: data.subarray(end) }
      ].filter(rest => rest.data.length > 0)
    })
    return taken
  }

  /** The content of the disk after a power loss. */
  crash(random: Random): Uint8Array {
    const content = new Content(this.#durable.bytes())
    const style = random.pick(STYLES)
    if (style === 'pages' || style === 'sectors') {
      scatter(content, this.#pending, style === 'pages' ? PAGE : SECTOR, random)
    } else if (style === 'zeros') {
      // The new size came to the disk, the data did not.
      content.resize(Math.max(content.size, this.#cached.size))
    } else {
      const kept = { all: Infinity, none: 0, 'in order': random.below(this.#pending.length + 1) }[style]
      for (const change of this.#pending.slice(0, kept)) content.apply(change)
    }
    return content.bytes()
  }
}

/** Each sector or page comes to the disk in one of its states, independently of the others. */
const scatter = (content: Content, changes: readonly Change[], unit: number, random: Random): void => {
  const written = new Set<number>()
  const likelihood = random.pick([0.1, 0.5, 0.9])
  for (const change of changes) {
    if ('size' in change) {
      content.resize(Math.max(content.size, change.size))
      continue
    }
    const { at, data } = change
    for (let index = Math.floor(at / unit); index * unit < at + data.length; index++) {
      if (written.has(index)) continue
      const [from, to] = [Math.max(at, index * unit), Math.min(at + data.length, (index + 1) * unit)]
      if (random.real() < likelihood) content.write(from, data.subarray(from - at, to - at))
      else if (random.real() < 0.5) written.add(index)
    }
  }
}
