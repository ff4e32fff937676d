/**
 * Compares the working tree with a commit: the benchmarks of both run alternately, each in processes of its own, the
 * commit's in a temporary worktree, and processor times of common cases are compared.
 */

import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CaseTime } from './processor-time.ts'
import { digits } from './report.ts'
import { median } from './stats.ts'

/** Smaller differences are not reported, even if they are significant. */
const LEAST_RATIO = 1.05

export type Change = {
  readonly case: string
  readonly before: number
  readonly after: number
  /** Above 1 when the working tree takes longer. */
  readonly ratio: number
  /** Half of the range of the noisier side, in percent of its median. */
  readonly spread: number
  readonly verdict: 'slower' | 'faster' | 'same'
}

/**
 * Slower: every run takes longer than every run of the other commit, and the medians differ by 5 %. Of five runs each,
 * chance alone separates one case in 252.
 */
export function changeOf(name: string, before: readonly number[], after: readonly number[]): Change {
  const [from, to] = [median(before), median(after)]
  const ratio = to / from
  const halfRange = (times: readonly number[]): number =>
    (50 * (Math.max(...times) - Math.min(...times))) / median(times)
  const isSlower = ratio > LEAST_RATIO && Math.min(...after) > Math.max(...before)
  const isFaster = ratio < 1 / LEAST_RATIO && Math.max(...after) < Math.min(...before)
  return {
    case: name,
    before: from,
    after: to,
    ratio,
    spread: Math.max(halfRange(before), halfRange(after)),
    verdict: isSlower ? 'slower' : isFaster ? 'faster' : 'same'
  }
}

export function changeLine({ case: name, before, after, ratio, spread, verdict }: Change): string {
  const times = [before, after].map(time => digits(time, 4).padStart(11)).join('  ')
  const noise = `±${digits(spread, 2)}%`.padStart(8)
  const mark = verdict === 'same' ? '' : `  ${verdict}`
  return `${name.padEnd(56)}  ${times}  ${`${digits(ratio, 3)}x`.padStart(8)}  ${noise}${mark}`
}

const CHANGE_HEAD = `${'case'.padEnd(56)}  ${'before us'.padStart(11)}  ${'after us'.padStart(11)}  ${'ratio'.padStart(8)}  ${'spread'.padStart(8)}`

const git = (directory: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd: directory, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()

/** Names and versions of the third-party packages in a lockfile. */
function installed(directory: string): string {
  const { packages } = JSON.parse(readFileSync(join(directory, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version?: string; link?: boolean }>
  }
  const entries = Object.entries(packages).filter(
    ([path, { link }]) => path.includes('node_modules/') && !link
  )
  return JSON.stringify(entries.map(([path, { version }]) => [path, version]).sort())
}

/** Gives a worktree its third-party packages: those of the repository if they are the same, else its own. */
function provideModules(worktree: string, repository: string): void {
  if (installed(worktree) !== installed(repository)) {
    execFileSync('npm', ['ci'], { cwd: worktree, stdio: ['ignore', 2, 2] })
    return
  }
  const folders = [
    '.',
    'bench',
    ...readdirSync(join(worktree, 'packages')).map(name => join('packages', name))
  ]
  for (const folder of folders) {
    const modules = join(repository, folder, 'node_modules')
    if (existsSync(modules)) symlinkSync(modules, join(worktree, folder, 'node_modules'))
  }
}

/** Gives a worktree the harness of the repository, so that one program measures both commits. */
function provideHarness(worktree: string, repository: string): void {
  const folder = join(repository, 'bench')
  for (const name of readdirSync(folder).filter(each => each.endsWith('.ts')))
    cpSync(join(folder, name), join(worktree, 'bench', name))
}

/** Runs a benchmark in a process of its own. */
function timesOf(directory: string, bench: string): Promise<CaseTime[]> {
  const args = ['bench/run.ts', bench, '--quick', '--processor-time']
  const child = spawn(process.execPath, [...process.execArgv, ...args], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'inherit']
  })
  let output = ''
  child.stdout.on('data', (data: Buffer) => {
    output += data
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', status => {
      if (status === 0)
        resolve(
          output
            .trim()
            .split('\n')
            .map(line => JSON.parse(line) as CaseTime)
        )
      else reject(new Error(`${bench} in ${directory} ended with ${status}`))
    })
  })
}

export type CompareOptions = {
  readonly repository: string
  readonly ref: string
  readonly benches: readonly string[]
  readonly rounds: number
  readonly print: (line: string) => void
  readonly progress: (text: string) => void
}

/** Returns whether no case became slower. */
export async function compareWith({
  repository,
  ref,
  benches,
  rounds,
  print,
  progress
}: CompareOptions): Promise<boolean> {
  const commit = git(repository, 'rev-parse', '--short', `${ref}^{commit}`)
  const worktree = mkdtempSync(join(tmpdir(), 'quoin-compare-'))
  git(repository, 'worktree', 'add', '--detach', worktree, commit)
  const remove = (): void => {
    git(repository, 'worktree', 'remove', '--force', worktree)
    rmSync(worktree, { recursive: true, force: true })
  }
  const end = (): void => {
    remove()
    process.exit(130)
  }
  process.once('SIGINT', end)
  try {
    provideModules(worktree, repository)
    provideHarness(worktree, repository)
    let isSlower = false
    for (const bench of benches) {
      const before = new Map<string, number[]>()
      const after = new Map<string, number[]>()
      for (let round = 1; round <= rounds; round++) {
        const sides = [
          [worktree, before],
          [repository, after]
        ] as const
        // Each side goes first in half of the rounds.
        for (const [directory, times] of round % 2 === 1 ? sides : sides.toReversed()) {
          progress(
            `${bench}: round ${round} of ${rounds}, ${directory === worktree ? commit : 'working tree'}`
          )
          for (const { case: name, microseconds } of await timesOf(directory, bench))
            times.set(name, [...(times.get(name) ?? []), microseconds])
        }
      }
      print(
        `\n${bench}, processor time of the working tree against ${commit}, medians of ${rounds} runs\n${CHANGE_HEAD}`
      )
      for (const [name, times] of after) {
        const earlier = before.get(name)
        if (earlier?.length !== rounds || times.length !== rounds) continue
        const change = changeOf(name, earlier, times)
        isSlower ||= change.verdict === 'slower'
        print(changeLine(change))
      }
    }
    return !isSlower
  } finally {
    process.removeListener('SIGINT', end)
    remove()
  }
}
