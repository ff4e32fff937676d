/**
 * P5, the decoder accepts exactly the words of the encoder. Both stay within the language by construction, since the
 * automaton checks every component that is read or written. It remains to show that `read` and `write` are inverse:
 * they run over a transition cover, for every edge of the minimal automaton a word through it, with the least and the
 * greatest byte of the edge.
 */

import { equalBytes } from '@quoin/primitives'
import type { Codec } from '../codec.ts'

export interface NotCanonical {
  readonly word: Uint8Array
  /** The result of reading the word and writing it again, or the error. */
  readonly back: Uint8Array | Error
}

const verdicts = new WeakMap<object, NotCanonical | null>()

/** A word of the codec's language that does not round-trip. Memoized for each codec. */
export const notCanonical = (codec: Codec<unknown>): NotCanonical | undefined => {
  let verdict = verdicts.get(codec)
  if (verdict === undefined) {
    verdict = firstFailure(codec) ?? null
    verdicts.set(codec, verdict)
  }
  return verdict ?? undefined
}

const firstFailure = (codec: Codec<unknown>): NotCanonical | undefined => {
  const { edges } = codec.language
  const access: number[][] = [[]]
  const queue = [0]
  for (const state of queue) {
    for (const { set, to } of edges[state]!) {
      if (access[to]) continue
      access[to] = [...access[state]!, set.sample]
      queue.push(to)
    }
  }
  const words = edges.flatMap((out, state) =>
    out.flatMap(({ set, to }) =>
      [set.min, set.max].map(byte => [...access[state]!, byte, ...codec.language.completion(to)])
    )
  )
  if (codec.language.acceptsEmpty) words.unshift([])
  for (const bytes of words) {
    const word = Uint8Array.from(bytes)
    const back = again(codec, word)
    if (back instanceof Error || !equalBytes(back, word)) return { word, back }
  }
  return undefined
}

/** Reads a word and writes it again. `target` has room to spare, so that extra bytes are a difference. */
const again = (codec: Codec<unknown>, word: Uint8Array): Uint8Array | Error => {
  const target = new Uint8Array(word.length + 64)
  try {
    return target.slice(0, codec.write(codec.read(word, 0, word.length), target, 0))
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
