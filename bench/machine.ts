/** The machine and the commit of a measurement, which make it comparable. */

import { spawnSync } from 'node:child_process'
import { cpus } from 'node:os'

/** The short commit, marked when files differ from it; `undefined` outside of a repository. */
function commit(directory: string): string | undefined {
  const options = ['describe', '--always', '--dirty', '--exclude', '*']
  const { status, stdout } = spawnSync('git', options, { cwd: directory, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

export type Machine = {
  readonly node: string
  readonly cpu: string
  readonly cores: number
  readonly commit: string | undefined
}

export function machineOf(directory: string): Machine {
  const cores = cpus()
  return {
    node: process.version,
    cpu: cores[0]?.model.trim() ?? 'unknown CPU',
    cores: cores.length,
    commit: commit(directory)
  }
}

export function describeMachine({ node, cpu, cores, commit }: Machine): string {
  return [`node ${node}`, cpu, `${cores} cores`, ...(commit ? [`commit ${commit}`] : [])].join(', ')
}
