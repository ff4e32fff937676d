/** `npm version` of a workspace: versions, lockfile and changelog of a release. */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const SCRIPTS = fileURLToPath(new URL('../scripts', import.meta.url))

let folder: string
const write = (path: string, content: unknown): void => {
  mkdirSync(join(folder, path, '..'), { recursive: true })
  writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content))
}
const read = (path: string): string => readFileSync(join(folder, path), 'utf8')
const git = (...args: string[]): string => execFileSync('git', args, { cwd: folder, encoding: 'utf8' })
const commit = (message: string): void => {
  git('add', '--all')
  git('-c', 'user.name=t', '-c', 'user.email=t@example.com', 'commit', '--quiet', '--message', message)
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quoin-release-'))
  cpSync(SCRIPTS, join(folder, 'scripts'), { recursive: true })
  const scripts = { version: 'node scripts/release.mjs' }
  write('package.json', { name: 'w', version: '0.1.0', private: true, workspaces: ['packages/*'], scripts })
  write('packages/a/package.json', { name: '@w/a', version: '0.1.0' })
  write('packages/b/package.json', { name: '@w/b', version: '0.1.0', dependencies: { '@w/a': '0.1.0' } })
  write('examples/c/package.json', { name: 'c', dependencies: { '@w/b': '^0.1.0', other: '^0.1.0' } })
  const packages = {
    '': { name: 'w', version: '0.1.0' },
    'node_modules/@w/a': { resolved: 'packages/a', link: true },
    'packages/a': { name: '@w/a', version: '0.1.0' },
    'packages/b': { name: '@w/b', version: '0.1.0', dependencies: { '@w/a': '0.1.0' } }
  }
  write('package-lock.json', { name: 'w', version: '0.1.0', lockfileVersion: 3, packages })
  write(
    'CHANGELOG.md',
    '# Changelog\n\n## Unreleased\n\n### Fixed\n\n- One.\n\n## 0.1.0 - 2026-01-01\n\n- First.\n'
  )
  write('.changes/README.md', '# Changes\n')
  write('.changes/two.md', '### Added\n\n- Two.\n\n### Fixed\n\n- Three.\n')
  git('init', '--quiet', '--initial-branch', 'main')
  commit('first')
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('npm version minor', () => {
  const version = () =>
    spawnSync('npm', ['version', 'minor', '--no-git-tag-version'], { cwd: folder, encoding: 'utf8' })

  it('sets the version everywhere, and moves the changes into the changelog', () => {
    expect(version()).toMatchObject({ status: 0 })
    expect(JSON.parse(read('packages/b/package.json'))).toMatchObject({
      version: '0.2.0',
      dependencies: { '@w/a': '0.2.0' }
    })
    expect(JSON.parse(read('examples/c/package.json')).dependencies).toEqual({
      '@w/b': '^0.2.0',
      other: '^0.1.0'
    })
    expect(JSON.parse(read('package-lock.json')).packages).toMatchObject({
      'node_modules/@w/a': { link: true },
      'packages/a': { version: '0.2.0' },
      'packages/b': { version: '0.2.0', dependencies: { '@w/a': '0.2.0' } }
    })
    const date = new Date().toISOString().slice(0, 10)
    expect(read('CHANGELOG.md')).toBe(
      `# Changelog\n\n## Unreleased\n\n## 0.2.0 - ${date}\n\n### Added\n\n- Two.\n\n` +
        '### Fixed\n\n- One.\n- Three.\n\n## 0.1.0 - 2026-01-01\n\n- First.\n'
    )
    expect([
      existsSync(join(folder, '.changes/two.md')),
      existsSync(join(folder, '.changes/README.md'))
    ]).toEqual([false, true])
  })

  it('refuses a change without a section', () => {
    write('.changes/three.md', 'Four.\n')
    const { status, stderr } = version()
    expect(status).not.toBe(0)
    expect(stderr).toContain('.changes/three.md: expected a heading "### Added"')
  })
})

describe('npm run changes', () => {
  const changes = () => spawnSync('node', ['scripts/changes.mjs', 'main'], { cwd: folder, encoding: 'utf8' })

  it('fails for changed sources without a file in .changes', () => {
    git('checkout', '--quiet', '-b', 'topic')
    write('packages/a/src/a.test.ts', '')
    commit('a test')
    expect(changes()).toMatchObject({ status: 0, stderr: '' })
    write('packages/a/src/a.ts', '')
    commit('a source')
    expect(changes()).toMatchObject({ status: 1, stderr: expect.stringContaining('packages/a/src/a.ts') })
    write('.changes/a.md', '### Added\n\n- A.\n')
    commit('its change')
    expect(changes()).toMatchObject({ status: 0 })
  })
})
