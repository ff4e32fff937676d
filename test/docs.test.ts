/**
 * The examples in the documentation run, and print what stands below them. A `ts` or `sh` block is followed by a
 * `text` block with its output, unless it prints nothing.
 */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { transformSync } from 'esbuild'
import { afterAll, describe, expect, it } from 'vitest'
import { type Block, blocksOf, brokenLinks } from './docs.testing.ts'
import { ROOT } from './node.testing.ts'

/** Several programs run at once, each of them several times. */
const SLOWEST_MS = 180_000
/** Run by `docs-overlays.test.ts`, or generated. */
const ELSEWHERE = new Set(['docs/run-an-existing-overlay.md', 'docs/write-an-overlay.md', 'docs/keys.md'])
const PAGES = ['.', 'docs', 'docs/architecture', '.changes', 'packages', 'apps']
  .flatMap(folder => {
    const names = readdirSync(join(ROOT, folder)).filter(name => !name.startsWith('.'))
    if (!['packages', 'apps'].includes(folder))
      return names.filter(name => name.endsWith('.md')).map(name => join(folder, name))
    return names.map(name => join(folder, name, 'README.md')).filter(page => existsSync(join(ROOT, page)))
  })
  .filter(page => !ELSEWHERE.has(page))
// Inside the workspace, so that `@quoin/keyspace` means this one, and ignored by git.
const SCRATCH = join(ROOT, 'dist/docs-examples')
mkdirSync(SCRATCH, { recursive: true })
afterAll(() => rmSync(SCRATCH, { recursive: true }))

const run = (command: string, args: readonly string[]) =>
  new Promise<{ status: unknown; stdout: string; stderr: string }>(resolve => {
    const child = execFile(command, args, { cwd: ROOT }, (error, stdout, stderr) =>
      resolve({ status: error ? (error.code ?? error.signal) : 0, stdout, stderr })
    )
    child.stdin?.end()
  })

/** The examples of a page as one program, in which a line stands between the outputs of each. */
const MARKER = '--- next example ---'
const programs = new Map(
  PAGES.flatMap((page): [string, { path: string; examples: Block[] }][] => {
    const examples = blocksOf(page).filter(({ language }) => language === 'ts')
    const path = join(SCRATCH, page.replaceAll('/', '-').replace('.md', '.mts'))
    return examples.length === 0 ? [] : [[page, { path, examples }]]
  })
)
for (const { path, examples } of programs.values()) {
  const text = examples.map(({ code }) => code).join(`\nconsole.log('${MARKER}')\n`)
  writeFileSync(path, text)
  writeFileSync(path.replace('.mts', '.mjs'), transformSync(text, { loader: 'ts', target: 'node20' }).code)
}

it('the TypeScript examples compile', async () => {
  const types =
    '--ignoreConfig --noEmit --strict --module nodenext --target es2023 --types node --skipLibCheck'
  const paths = [...programs.values()].map(({ path }) => path)
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  expect(await run(process.execPath, [compiler, ...types.split(' '), ...paths])).toMatchObject({
    status: 0,
    stdout: ''
  })
})

describe.concurrent.each(PAGES)('%s', { timeout: SLOWEST_MS }, page => {
  const program = programs.get(page)
  if (program) {
    it('has TypeScript examples that run, and print what it says', async ({ expect }) => {
      const { path, examples } = program
      const { stdout, ...ended } = await run(process.execPath, [path.replace('.mts', '.mjs')])
      expect(ended).toEqual({ status: 0, stderr: '' })
      expect(stdout.split(`${MARKER}\n`)).toEqual(examples.map(({ output }) => output))
    })
  }

  for (const { code, output } of blocksOf(page).filter(
    ({ language, output: printed }) => language === 'sh' && printed !== ''
  )) {
    it(`prints what it says for: ${code.trim()}`, async ({ expect }) => {
      const { stdout } = await run('bash', [
        '-c',
        code.replaceAll('npx quoin', `node ${join(ROOT, 'packages/node/bin/quoin.js')}`)
      ])
      expect(stdout).toBe(output)
    })
  }

  it('links to files that exist', ({ expect }) => {
    expect(brokenLinks(page)).toEqual([])
  })
})
