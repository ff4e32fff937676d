/**
 * The examples in the documentation run, and print what stands below them. A `ts` or `sh` block is followed by a
 * `text` block with its output, unless it prints nothing.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'src/keyspace/README.md',
  'src/store/README.md',
  'src/chain/README.md',
  'src/txo/README.md',
  'src/overlay/README.md',
  'src/bsv21/README.md',
  'src/kvstore/README.md',
  'src/liquidity/README.md',
  'src/server/README.md',
  'explorer/README.md',
  'docs/audit.md'
]
// Inside the package, so that `quoin/keyspace` means this one, and ignored by git.
const SCRATCH = join(ROOT, 'dist/docs-example.mts')

interface Block {
  readonly language: string
  readonly code: string
  readonly output: string
}

const blocks = (page: string): Block[] => {
  const all = [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```(\w*)\n(.*?)^```$/gms)]
  return all.map(([, language = '', code = ''], i) => ({
    language,
    code,
    output: all[i + 1]?.[1] === 'text' ? all[i + 1]![2]! : ''
  }))
}

const run = (command: string, args: string[]) => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8' })
  return { status, stdout, stderr }
}

describe.each(PAGES)('%s', page => {
  const examples = blocks(page).filter(({ language }) => language === 'ts')
  if (examples.length > 0) {
    it('has TypeScript examples that compile, run, and print what it says', () => {
      const marker = '--- next example ---'
      writeFileSync(SCRATCH, examples.map(({ code }) => code).join(`\nconsole.log('${marker}')\n`))
      try {
        const types =
          '--ignoreConfig --noEmit --strict --module nodenext --target es2023 --types node --skipLibCheck'
        expect(run('npx', ['tsc', ...types.split(' '), SCRATCH])).toMatchObject({ status: 0, stdout: '' })
        const { status, stdout, stderr } = run('npx', ['tsx', SCRATCH])
        expect({ status, stderr: stderr.replace(/^npm warn.*\n/gm, '') }).toEqual({ status: 0, stderr: '' })
        expect(stdout.split(`${marker}\n`)).toEqual(examples.map(({ output }) => output))
      } finally {
        rmSync(SCRATCH)
      }
    })
  }

  for (const { code, output } of blocks(page).filter(
    ({ language, output: printed }) => language === 'sh' && printed !== ''
  )) {
    it(`prints what it says for: ${code.trim()}`, () => {
      const { stdout } = run('bash', [
        '-c',
        code.replaceAll('npx quoin', `node ${join(ROOT, 'bin/quoin.js')}`)
      ])
      expect(stdout).toBe(output)
    })
  }

  it('links to files that exist', () => {
    const text = readFileSync(join(ROOT, page), 'utf8')
    for (const [, target] of text.matchAll(/\]\((?!https?:)([^)#]+)/g)) {
      expect(existsSync(join(ROOT, page, '..', target!)), target).toBe(true)
    }
  })
})
