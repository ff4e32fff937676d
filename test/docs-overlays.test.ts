/**
 * The pages on overlays run: a `js` block that begins with the name of a file is that file, a `sh` block that ends with a
 * node is served until the next one, and every other `sh` block prints the `text` block below it, itself or in the node.
 */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { blocksOf, brokenLinks } from './docs.testing.ts'
import { BIN, Commands, ROOT, type RunningNode } from './node.testing.ts'

const PAGES = ['docs/run-an-existing-overlay.md', 'docs/write-an-overlay.md']
const folder = mkdtempSync(join(tmpdir(), 'quoin-docs-'))
cpSync(join(ROOT, 'examples'), join(folder, 'examples'), { recursive: true })
/** The packages of this repository and of others, as after `npm install quoin`. */
mkdirSync(join(folder, 'node_modules'))
for (const name of readdirSync(join(ROOT, 'node_modules')))
  symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))

const commands = new Commands(folder)
afterAll(async () => {
  await commands.close()
  rmSync(folder, { recursive: true })
})

const shell = (script: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = execFile('bash', ['-e', '-c', script], { cwd: folder }, (error, stdout, stderr) =>
      error ? reject(new Error(`${error.message}\n${stderr}`)) : resolve(stdout)
    )
    child.stdin?.end()
  })

const NODE = /npx quoin (serve|dev)\b/

/** Runs the lines before the node in a shell, whose variables and directory the node has, too. */
const started = async (code: string): Promise<RunningNode> => {
  const [before = '', command = ''] = code.split(/^npx quoin /m)
  const args = await shell(
    `${before}\nprintf '%s\\0' "$PWD" "\${QUOIN_ADMIN_TOKEN:-}"\nprintf '%s\\0' ${command.trim()}`
  )
  const [directory = '', token = '', ...words] = args.split('\0').slice(0, -1)
  const [verb = '', ...rest] = words
  return commands.serve(
    [verb, ...rest, '--store', 'memory:', '--port', '0'],
    token ? { QUOIN_ADMIN_TOKEN: token } : {},
    directory
  )
}

const atNode = (code: string, { url }: RunningNode): string =>
  code
    .replaceAll('http://localhost:8080', url)
    .replaceAll(/npx quoin (lookups replay|\w+)/g, (_, verb: string) => `node ${BIN} ${verb} --url ${url}`)

/** Durations differ. */
const pattern = (text: string): string => text.replaceAll(/\d+(\.\d+)? ms/g, '… ms')

describe.each(PAGES)('%s', { timeout: 180_000 }, page => {
  it('has commands that print what it says', async () => {
    let node: RunningNode | undefined
    let ran = 0
    for (const { language, code, output } of blocksOf(page)) {
      const [, name] = (language === 'js' && /^\/\/ (\S+)\n/.exec(code)) || []
      if (name) writeFileSync(join(folder, name), code)
      if (language !== 'sh') continue
      if (NODE.test(code)) {
        if (node) expect(await commands.stop(node)).toBe(0)
        const running = await started(code)
        node = running
        if (/quoin dev/.test(code)) await expect.poll(() => running.stdout()).toContain('loaded again')
        continue
      }
      const running = node!
      const printed = await shell(atNode(code, running))
      ran++
      if (printed === '') {
        const shown = () => pattern(running.stdout())
        await expect.poll(shown, { timeout: 30_000 }).toContain(pattern(output))
      } else expect(printed.replaceAll(/[ ]+$/gm, '')).toBe(output)
    }
    expect(await commands.stop(node!)).toBe(0)
    expect(ran).toBeGreaterThan(1)
  })

  it('links to files that exist', () => {
    expect(brokenLinks(page)).toEqual([])
  })
})
