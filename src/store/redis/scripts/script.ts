/**
 * Lua scripts, which Redis runs one after the other and each as a whole.
 *
 * They reach keys that they are not told of, all in the partition whose prefix they are given. So that a cluster
 * sends them to the right server, and never runs them while the slot moves from one server to another, each names two
 * keys of the partition that never exist: a server that has given away, or not yet got, any key of the slot must
 * refuse a command over keys that it lacks (TRYAGAIN).
 */
import { createHash } from 'node:crypto'
import type { Partition } from '../names.ts'
import type { Argument, Command } from '../resp.ts'

/** Texts by their hashes. */
export const scriptTexts = new Map<string, Uint8Array>()

/** A script by its text: makes the command that runs it in a partition. ARGV[1] is the partition's prefix. */
export const script = (lua: string): ((partition: Partition, ...rest: Argument[]) => Command) => {
  const text = new TextEncoder().encode(lua)
  const sha = createHash('sha1').update(text).digest('hex')
  scriptTexts.set(sha, text)
  return ({ guards: [one, two], prefix }, ...rest) => ['EVALSHA', sha, '2', one, two, prefix, ...rest]
}
