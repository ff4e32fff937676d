/**
 * Lua scripts, which Redis runs one after the other and each as a whole. They make the names of keys themselves, so
 * their commands declare none: every key of a store is on one server.
 */
import { createHash } from 'node:crypto'
import type { Argument, Command } from '../resp.ts'

/** Texts by their hashes. */
export const scriptTexts = new Map<string, Uint8Array>()

/** A script by its text: makes the command that runs it. */
export const script = (lua: string): ((...args: Argument[]) => Command) => {
  const text = new TextEncoder().encode(lua)
  const sha = createHash('sha1').update(text).digest('hex')
  scriptTexts.set(sha, text)
  return (...args) => ['EVALSHA', sha, '0', ...args]
}
