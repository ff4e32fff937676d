/** Files that this process cannot write. Permissions bind root in no other way than by becoming somebody else. */
import { chmodSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const NOBODY = 65_534

/** For a process of its own: the way back is closed. Modules must be loaded before. */
export const makeReadOnly = (...paths: readonly string[]): void => {
  for (const path of paths) {
    for (const name of readdirSync(path)) chmodSync(join(path, name), 0o444)
    chmodSync(path, 0o555)
  }
  if (process.getuid!() !== 0) return
  process.setgid!(NOBODY)
  process.setuid!(NOBODY)
}
