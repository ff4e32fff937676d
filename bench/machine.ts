/** Names what a number was measured on: without it, a number cannot be compared with another. */

import { spawnSync } from 'node:child_process'
import { cpus } from 'node:os'

/** The short commit, marked when files differ from it; `undefined` outside of a repository. */
function commit(directory: string): string | undefined {
  const options = ['describe', '--always', '--dirty', '--exclude', '*']
  const { status, stdout } = spawnSync('git', options, { cwd: directory, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

export function describeMachine(directory: string): string {
  const cores = cpus()
  const parts = [`node ${process.version}`, cores[0]?.model.trim() ?? 'unknown CPU', `${cores.length} cores`]
  const revision = commit(directory)
  if (revision !== undefined) parts.push(`commit ${revision}`)
  return parts.join(', ')
}
