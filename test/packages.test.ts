/**
 * The packages as npm publishes them: packed, installed into empty projects, type-checked, imported and required. By
 * default the package without dependencies is installed, which needs no registry; `npm run test:packages` installs each
 * package, and runs it on Node 20, 22 and 24.
 */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PACKAGES = join(ROOT, 'packages')
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')
const LICENCE = readFileSync(join(ROOT, 'LICENSE'), 'utf8')
const isMatrix = process.env['QUOIN_PACKAGES'] === 'all'
const RELEASES = [20, 22, 24]

interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly description?: string
  readonly keywords?: readonly string[]
  readonly license?: string
  readonly repository?: { readonly directory?: string }
  readonly bin?: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const manifests = readdirSync(PACKAGES)
  .map((folder): Manifest & { folder: string } => ({
    ...JSON.parse(readFileSync(join(PACKAGES, folder, 'package.json'), 'utf8')),
    folder
  }))
  .filter(manifest => !manifest.private)
const named = new Map(manifests.map(manifest => [manifest.name, manifest]))

/** The import specifiers of a package. */
const entriesOf = ({ name, exports }: Manifest): string[] =>
  Object.entries(exports).flatMap(([entry, target]) =>
    typeof target === 'string' ? [] : [name + entry.slice(1)]
  )

/** The packages of this repository that a package is installed with, itself included. */
const closureOf = (name: string): string[] => {
  const { dependencies, optionalDependencies } = named.get(name)!
  const names = Object.keys({ ...dependencies, ...optionalDependencies }).filter(each => named.has(each))
  return [...new Set([name, ...names.flatMap(closureOf)])]
}

const scratch = mkdtempSync(join(tmpdir(), 'quoin-packages-'))
const tarballs = new Map<string, { readonly file: string; readonly files: readonly string[] }>()

beforeAll(async () => {
  const { stdout } = await run('npm', ['pack', '--json', '--workspaces', '--pack-destination', scratch], {
    cwd: ROOT,
    maxBuffer: 1 << 26
  })
  const packed: Record<string, { name: string; filename: string; files: { path: string }[] }> =
    JSON.parse(stdout)
  for (const { name, filename, files } of Object.values(packed))
    tarballs.set(name, { file: join(scratch, filename), files: files.map(({ path }) => path) })
}, 120_000)

afterAll(() => rmSync(scratch, { recursive: true, force: true }), 120_000)

describe.each(manifests)('$name', manifest => {
  const { name, folder, exports, bin = {}, dependencies, optionalDependencies } = manifest

  it('says what it is, and where it comes from', () => {
    expect(manifest).toMatchObject({
      description: expect.stringMatching(/.{20}/),
      license: 'MIT',
      engines: { node: '>=20.19' },
      repository: { type: 'git', directory: `packages/${folder}` }
    })
    expect(manifest.keywords!.length).toBeGreaterThan(2)
    for (const [dependency, version] of Object.entries({ ...dependencies, ...optionalDependencies }))
      if (named.has(dependency)) expect(version, dependency).toBe(named.get(dependency)!.version)
  })

  it('packs its entries, README and licence, and neither tests nor source maps', () => {
    const { files } = tarballs.get(name)!
    const targets = Object.values(exports).flatMap(target =>
      typeof target === 'string' ? [target] : Object.values(target)
    )
    const paths = [...targets, ...Object.values(bin)].map(target => target.replace('./', ''))
    expect(files).toEqual(expect.arrayContaining([...paths, 'README.md', 'LICENSE']))
    expect(readFileSync(join(PACKAGES, folder, 'LICENSE'), 'utf8')).toBe(LICENCE)
    expect(files.filter(file => /\.map$|\.(test|testing|bench)\.|fixtures|^src\//.test(file))).toEqual([])
    for (const file of files.filter(each => each.endsWith('.js')))
      expect(readFileSync(join(PACKAGES, folder, file), 'utf8'), file).not.toContain('sourceMappingURL')
  })

  it.runIf(isMatrix || name === '@quoin/keyspace')(
    'installs and type-checks in an empty project, loads by import and by require, and runs',
    async () => {
      const project = await install(name)
      await checkTypes(project, entriesOf(manifest))
      const nodes = isMatrix ? await installNodes() : [process.execPath]
      for (const node of nodes) {
        await load(node, project, entriesOf(manifest))
        for (const command of Object.keys(bin)) {
          const { stdout } = await run(node, [join(project, 'node_modules/.bin', command), '--version'])
          expect(stdout.trim()).toBe(manifest.version)
        }
      }
      if (name !== '@quoin/keyspace') rmSync(project, { recursive: true })
    },
    600_000
  )
})

describe('@quoin/keyspace', () => {
  const project = join(scratch, 'keyspace')

  it('installs with its primitives and a parser of YAML, under free licences, nothing native, nothing run', () => {
    const modules = join(project, 'node_modules')
    const installed = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')).packages
    expect(Object.keys(installed)).toEqual([
      'node_modules/@quoin/keyspace',
      'node_modules/@quoin/primitives',
      'node_modules/yaml'
    ])
    for (const each of Object.values(installed)) {
      expect(each).toMatchObject({ license: expect.stringMatching(/^(MIT|ISC)$/) })
      expect(each).not.toHaveProperty('hasInstallScript')
    }
    const files = readdirSync(modules, { recursive: true, encoding: 'utf8' })
    expect(files.filter(file => /\.(node|wasm|gyp)$/.test(file))).toEqual([])
  })

  it('has its command', async () => {
    writeFileSync(
      join(project, 'keys.mjs'),
      `import { collection, keyspace, u64 } from '@quoin/keyspace'
      export const keys = keyspace('keys', { a: collection({ key: ['a:', u64('n')] }) })`
    )
    const keyspace = (...args: string[]) =>
      run(join(project, 'node_modules/.bin/keyspace'), args, { cwd: project })
    expect((await keyspace('check', './keys.mjs')).stdout).toContain('sound: 1 keyspaces')
    expect((await keyspace('explain', '613a0000000000000001', './keys.mjs')).stdout).toContain('keys.a')
    const layout = join(ROOT, 'test/fixtures/example-layout.json')
    await expect(keyspace('audit', layout)).rejects.toMatchObject({ code: 1 })
  })
})

it('every entry loads by import and by require from the workspace', async () => {
  await load(process.execPath, ROOT, manifests.flatMap(entriesOf))
})

/** An empty project with a package, and no more of this repository than the package depends on. */
const install = async (name: string): Promise<string> => {
  const project = join(scratch, named.get(name)!.folder)
  mkdirSync(project)
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ name: 'empty', version: '1.0.0', private: true })
  )
  const files = closureOf(name).map(each => tarballs.get(each)!.file)
  await run('npm', ['install', '--no-audit', '--no-fund', ...(isMatrix ? [] : ['--offline']), ...files], {
    cwd: project,
    env: { ...process.env, QUOIN_LMDB: 'prebuilt' }
  })
  return project
}

/** Checks a module of each kind that imports all entries, with nothing of Node's types, and reads our declarations. */
const checkTypes = async (project: string, entries: readonly string[]): Promise<void> => {
  const names = entries.map((_, i) => `entry${i}`)
  const module = (statement: (entry: string, i: number) => string): string =>
    `${entries.map(statement).join('\n')}\nexport const all = [${names}]\n`
  writeFileSync(
    join(project, 'esm.mts'),
    module((entry, i) => `import * as ${names[i]} from '${entry}'`)
  )
  writeFileSync(
    join(project, 'cjs.cts'),
    module((entry, i) => `import ${names[i]} = require('${entry}')`)
  )
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--types', '']
  const { stdout } = await run(process.execPath, [TSC, ...options, 'esm.mts', 'cjs.cts'], {
    cwd: project
  }).catch((error: { stdout: string }) => error)
  // The declarations of the SDK contradict one another; ours may not.
  const lines = stdout.split('\n').filter(line => /^\S/.test(line))
  expect(
    lines.filter(line => !line.startsWith('node_modules/') || /node_modules\/(@quoin|quoin)\//.test(line))
  ).toEqual([])
}

const load = async (node: string, directory: string, entries: readonly string[]): Promise<void> => {
  const list = JSON.stringify(entries)
  const scripts = {
    'load.cjs': `for (const entry of ${list}) if (Object.keys(require(entry)).length === 0) throw new Error(entry)`,
    'load.mjs': `for (const entry of ${list}) if (Object.keys(await import(entry)).length === 0) throw new Error(entry)`
  }
  for (const [name, script] of Object.entries(scripts)) {
    const file = join(directory, 'node_modules', `.quoin-${name}`)
    writeFileSync(file, script)
    try {
      const { stderr } = await run(node, [file], { cwd: directory })
      expect(stderr, `${relative(scratch, node)} ${name}`).toBe('')
    } finally {
      rmSync(file)
    }
  }
}

/** The newest release of each line of Node, from npm. */
const installNodes = async (): Promise<string[]> => {
  const directory = join(scratch, 'nodes')
  const platform = process.platform === 'win32' ? 'win' : process.platform
  const binaries = RELEASES.map(release => join(directory, `node${release}`, 'bin/node'))
  if (!existsSync(directory)) {
    mkdirSync(directory)
    writeFileSync(join(directory, 'package.json'), '{ "private": true }')
    const binary = `node-${platform}-${process.arch}`
    await run(
      'npm',
      [
        'install',
        '--no-audit',
        '--no-fund',
        ...RELEASES.map(release => `node${release}@npm:${binary}@${release}`)
      ],
      {
        cwd: directory
      }
    )
  }
  return binaries.map(path => path.replace(directory, join(directory, 'node_modules')))
}
