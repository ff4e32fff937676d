/** Hosting without a program: projects of LARS and CARS, modules on the command line, reloads and replays. */
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { Commands, ROOT, type RunningNode } from './node.testing.ts'

const TOKEN = 'correct-horse-battery-staple'
const ADMIN = { QUOIN_ADMIN_TOKEN: TOKEN }
const folder = mkdtempSync(join(tmpdir(), 'quoin-plugins-'))
const commands = new Commands(folder)
afterAll(async () => {
  await commands.close()
  rmSync(folder, { recursive: true })
})

/** A copy of the example, with the packages of this repository. */
const project = (name: string): string => {
  const path = join(folder, name)
  cpSync(join(ROOT, 'examples/guestbook'), path, { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(path, 'node_modules'))
  return path
}
const guestbook = project('guestbook')
const PROJECT = join(guestbook, 'deployment-info.json')

const scriptOf = (text: string): string =>
  execFileSync(process.execPath, [join(guestbook, 'entry-script.mjs'), text], { encoding: 'utf8' }).trim()

/** Pays an entry on the development chain of the node; answers the transaction as `quoin submit` takes it. */
const paid = async ({ url }: RunningNode, text: string): Promise<string> => {
  const body = JSON.stringify({ satoshis: 1, script: scriptOf(text) })
  const headers = { 'content-type': 'application/json' }
  return (await fetch(`${url}/dev/fund`, { method: 'POST', headers, body })).text()
}
const submit = async (node: RunningNode, text: string): Promise<string> => {
  const args = ['submit', '-', '--topic', 'tm_guestbook', '--url', node.url]
  return (await commands.run(args, {}, await paid(node, text))).stdout.trim()
}
const ADMITTED = 'tm_guestbook  admitted outputs 0'
const entries = async ({ url }: RunningNode, query: object = {}): Promise<number> => {
  const args = ['lookup', 'ls_guestbook', JSON.stringify(query), '--url', url, '--json']
  const { stdout } = await commands.run(args)
  return (JSON.parse(stdout) as { outputs: readonly unknown[] }).outputs.length
}

describe('quoin serve deployment-info.json', () => {
  it('runs a project as it is, on SQLite beside the store, and keeps what it knows', async () => {
    const at = join(folder, 'kept')
    const args = ['serve', PROJECT, '--store', `lmdb:${at}`, '--port', '0']
    const node = await commands.serve(args, { HOSTING_URL: 'localhost:8080', ADMIN_BEARER_TOKEN: TOKEN })
    await expect.poll(() => node.stdout()).toMatch(/project +deployment-info\.json/)
    expect(node.stdout()).toContain('ADMIN_BEARER_TOKEN sets adminToken')
    expect(node.stdout()).toContain('HOSTING_URL is not used: the node advertises nothing')
    expect(node.stdout()).not.toContain(TOKEN)
    expect(await submit(node, 'Hello')).toBe(ADMITTED)
    await expect.poll(() => entries(node, { text: 'Hello' })).toBe(1)
    expect(await entries(node, { text: 'Bye' })).toBe(0)
    expect(existsSync(`${at}.plugins.sqlite`)).toBe(true)
    expect(await commands.stop(node)).toBe(0)

    const again = await commands.serve(args)
    expect(await entries(again, { text: 'Hello' })).toBe(1)
    expect(await commands.stop(again)).toBe(0)
  })

  it('says what a project lacks, and where it is wrong', async () => {
    const change = (name: string, to: (info: Record<string, unknown>) => object): string => {
      const path = join(guestbook, name)
      writeFileSync(path, JSON.stringify(to(JSON.parse(readFileSync(PROJECT, 'utf8')))))
      return path
    }
    const mongo = change('mongo.json', info => ({
      ...info,
      lookupServices: {
        ls_guestbook: {
          serviceFactory: './backend/src/lookup-services/GuestbookLookupServiceFactory.ts',
          hydrateWith: 'mongo'
        }
      }
    }))
    const absent = change('absent.json', info => ({ ...info, topicManagers: { tm_x: './X.ts' } }))
    const serve = (path: string) => commands.run(['serve', path, '--store', 'memory:', '--port', '0'])
    const [first, second, third] = await Promise.all([serve(mongo), serve(absent), serve('absent.yaml')])
    expect([first.status, second.status, third.status]).toEqual([2, 2, 2])
    expect(first.stderr).toContain(
      'mongo is not set, but ls_guestbook is hydrated with it; expected mongodb://…'
    )
    expect(second.stderr).toContain('topicManagers.tm_x is "./X.ts"; the file does not exist')
    expect(third.stderr).toContain('cannot read the configuration')
  })

  it('compiles decorators as LARS and CARS do, without regard to the tsconfig.json of the project', async () => {
    const path = project('decorated')
    const source = join(path, 'backend/src/topic-managers/GuestbookTopicManager.ts')
    const tsconfig = join(path, 'backend/tsconfig.json')
    writeFileSync(
      tsconfig,
      JSON.stringify({ files: [], references: [], compilerOptions: { target: 'es2022' } })
    )
    const legacy = `const legacy = (target: object, key: unknown): void => {
      if (typeof key !== 'string') throw new Error('a decorator of the other kind')
      Object.defineProperty(target, 'decorated', { value: key })
    }`
    const text = readFileSync(source, 'utf8')
      .replace('/** Admits', `${legacy}\n/** Admits`)
      .replace('async getDocumentation', '@legacy mark?: string\n  async getDocumentation')
    writeFileSync(source, text)
    const args = ['--store', 'memory:', '--port', '0']
    const node = await commands.serve(['serve', join(path, 'deployment-info.json'), ...args])
    expect(await submit(node, 'Hello')).toBe(ADMITTED)
    expect(await commands.stop(node)).toBe(0)
    const other = await commands.run(['serve', '--plugins', `tm_guestbook=${source}`, ...args])
    expect([other.status, other.stderr]).toEqual([
      2,
      expect.stringContaining('a decorator of the other kind')
    ])
  })

  it('is shown by quoin config, without secrets', async () => {
    const variables = { MONGO_URL: 'mongodb://me:swordfish@localhost/x' }
    const { stdout, status } = await commands.run(['config', PROJECT, '--json'], variables)
    expect(status).toBe(0)
    expect(stdout).not.toContain('swordfish')
    const { config, origins } = JSON.parse(stdout)
    expect(origins.mongo).toBe('MONGO_URL')
    expect(config.plugins.map(({ name }: { name: string }) => name)).toEqual(['tm_guestbook', 'ls_guestbook'])
    // As YAML it is the configuration of commands that take no project.
    const settings = join(folder, 'project.yaml')
    writeFileSync(settings, (await commands.run(['config', PROJECT])).stdout)
    const again = JSON.parse((await commands.run(['config', settings, '--json'])).stdout)
    expect(again.config.plugins).toEqual(config.plugins)
  })
})

describe('plug-ins without a project', () => {
  const topic = join(guestbook, 'backend/src/topic-managers/GuestbookTopicManager.ts')
  const factory = join(guestbook, 'backend/src/lookup-services/GuestbookLookupServiceFactory.ts')

  it('are options of the command line', async () => {
    const lookup = JSON.stringify({ module: factory, name: 'ls_guestbook', hydrateWith: 'knex' })
    const own = join(ROOT, 'packages/overlay/src/hosting/fixtures/own.ts')
    const plugins = ['--plugins', `tm_guestbook=${topic}#default`, '--plugins', lookup, '--plugins', own]
    const node = await commands.serve(['serve', '--store', 'memory:', '--port', '0', ...plugins])
    // In Quoin's form, which the node imports itself.
    await expect.poll(() => node.stdout()).toContain('tm_typed')
    expect(await submit(node, 'Hello')).toBe(ADMITTED)
    await expect.poll(() => entries(node)).toBe(1)
    expect(await commands.stop(node)).toBe(0)
  })

  it('are keys of a file, whose paths are relative to it', async () => {
    const settings = join(guestbook, 'quoin.yaml')
    writeFileSync(
      settings,
      stringify({
        store: 'memory:',
        port: 0,
        plugins: [
          'tm_guestbook=./backend/src/topic-managers/GuestbookTopicManager.ts',
          {
            module: './backend/src/lookup-services/GuestbookLookupServiceFactory.ts',
            name: 'ls_guestbook',
            hydrateWith: 'knex',
            topics: ['tm_guestbook'],
            concurrency: 2
          }
        ],
        knex: { connection: { filename: './entries.sqlite' } }
      })
    )
    const node = await commands.serve(['serve', settings])
    expect(await submit(node, 'Hello')).toBe(ADMITTED)
    await expect.poll(() => entries(node)).toBe(1)
    expect(existsSync(join(guestbook, 'entries.sqlite'))).toBe(true)
    expect(await commands.stop(node)).toBe(0)
  })

  it('are exports of a package beside the file with the settings', async () => {
    const directory = join(folder, 'with-package')
    const installed = join(directory, 'node_modules/@scope/hello-services')
    mkdirSync(installed, { recursive: true })
    const manifest = { name: '@scope/hello-services', version: '1.0.0', exports: { '.': './dist/mod.cjs' } }
    writeFileSync(join(installed, 'package.json'), JSON.stringify(manifest))
    mkdirSync(join(installed, 'dist'))
    writeFileSync(
      join(installed, 'dist/mod.cjs'),
      `const about = { getDocumentation: async () => '', getMetaData: async () => ({ name: 'x', shortDescription: 'x' }) }
      exports.HelloTopicManager = class {
        getDocumentation = about.getDocumentation
        getMetaData = about.getMetaData
        async identifyAdmissibleOutputs() { return { outputsToAdmit: [0], coinsToRetain: [] } }
      }
      exports.createHelloLookup = async ({ limit }) => {
        const known = []
        return {
          ...about,
          admissionMode: 'whole-tx',
          spendNotificationMode: 'none',
          outputAdmittedByTopic: async ({ atomicBEEF, outputIndex }) => {
            known.push({ txid: Buffer.from(atomicBEEF.slice(4, 36)).reverse().toString('hex'), outputIndex })
          },
          outputEvicted: async () => undefined,
          lookup: async () => known.slice(0, limit)
        }
      }`
    )
    const settings = join(directory, 'quoin.yaml')
    const module = '@scope/hello-services'
    const lookup = { module, export: 'createHelloLookup', name: 'ls_guestbook', options: { limit: 1 } }
    const plugins = [`tm_guestbook=${module}#HelloTopicManager`, lookup]
    writeFileSync(settings, stringify({ store: 'memory:', port: 0, plugins }))
    const node = await commands.serve(['serve', settings])
    for (const text of ['one', 'two']) expect(await submit(node, text)).toBe(ADMITTED)
    await expect.poll(() => entries(node)).toBe(1)
    expect(await commands.stop(node)).toBe(0)
    writeFileSync(settings, stringify({ store: 'memory:', port: 0, plugins: [`tm_x=${module}-of-others#X`] }))
    const { status, stderr } = await commands.run(['serve', settings])
    expect([status, stderr]).toEqual([2, expect.stringContaining(`npm install ${module}-of-others`)])
  })

  it.each([
    [['--plugins', '{"module":"./x.js","nam":"tm_x"}'], 'plugins[0]: unknown key nam; did you mean name?'],
    [['--plugins', 'tm_x=./absent.ts'], 'absent.ts is missing'],
    [['a.yaml', '--config', 'b.yaml'], 'two files with settings: a.yaml and --config b.yaml']
  ])('%j is refused with the reason, and exit code 2', async (args, reason) => {
    const { status, stderr } = await commands.run(['serve', '--store', 'memory:', '--port', '0', ...args])
    expect(stderr).toContain(reason)
    expect(status).toBe(2)
  })
})

describe('quoin lookups', () => {
  it('says how far each service is, and rebuilds a database that was lost', async () => {
    const at = join(folder, 'replayed')
    const args = ['serve', PROJECT, '--store', `lmdb:${at}`, '--port', '0']
    const before = await commands.serve(args)
    for (const text of ['one', 'two', 'three']) expect(await submit(before, text)).toBe(ADMITTED)
    await expect.poll(() => entries(before)).toBe(3)
    expect(await commands.stop(before)).toBe(0)
    for (const end of ['', '-wal', '-shm']) rmSync(`${at}.plugins.sqlite${end}`, { force: true })

    const node = await commands.serve(args, ADMIN)
    expect(await entries(node)).toBe(0)
    const lookups = (...more: string[]) => commands.run(['lookups', ...more, '--url', node.url], ADMIN)
    const replayed = await lookups('replay', 'ls_guestbook')
    expect(replayed).toMatchObject({ status: 0, stdout: expect.stringContaining('caught up: ls_guestbook') })
    expect(await entries(node)).toBe(3)

    const { stdout, status } = await lookups()
    expect(status).toBe(0)
    const row = stdout.split('\n').find(line => line.startsWith('ls_guestbook'))!
    expect(row).toMatch(
      /^ls_guestbook +current +0 +0 +0 +\d+ s ago +GuestbookLookupServiceFactory\.ts +\d+ +0$/
    )
    for (const service of ['ls_kvstore', 'ls_ship', 'ls_slap'])
      expect(stdout).toMatch(new RegExp(`^${service} +in each commit`, 'm'))
    const json = JSON.parse((await lookups('--json')).stdout)
    expect(json.find(({ service }: { service: string }) => service === 'ls_guestbook')).toMatchObject({
      delivery: { status: 'current', lag: 0 },
      process: { state: 'running', module: expect.stringContaining('GuestbookLookupServiceFactory.ts') }
    })

    const position = ['replay', 'ls_guestbook', '--from', '2', '--topic', 'tm_guestbook', '--json']
    expect(JSON.parse((await lookups(...position)).stdout)).toMatchObject({
      status: 'current',
      interrupted: false
    })
    const wrong = await Promise.all([
      lookups('replay', 'ls_guestbook', '--from', '2'),
      lookups('replay', 'ls_guestbook', '--from', 'yesterday'),
      lookups('replay', 'ls_none'),
      lookups('replay', 'ls_kvstore'),
      commands.run(['lookups', '--url', node.url]),
      commands.run(['lookups', '--url', node.url, '--token', 'another-token-of-mine'])
    ])
    expect(wrong.map(each => each.status)).toEqual(Array(6).fill(2))
    for (const [i, reason] of [
      '--from with a position needs --topic',
      'invalid --from yesterday: expected zero or a position',
      'no lookup service ls_none has deliveries: expected ls_guestbook',
      'ls_kvstore is written in the commits of the node',
      'no admin token: expected --token or QUOIN_ADMIN_TOKEN',
      'the token is wrong'
    ].entries())
      expect(wrong[i]!.stderr).toContain(reason)
    expect(await commands.stop(node)).toBe(0)
    const down = await lookups()
    expect([down.status, down.stderr]).toEqual([2, expect.stringContaining('is quoin serve running there?')])
  })

  it('replays in the node: Ctrl-C ends the command alone', async () => {
    const slow = join(folder, 'slow.mjs')
    writeFileSync(
      slow,
      `const about = { getDocumentation: async () => '', getMetaData: async () => ({ name: 'x', shortDescription: 'x' }) }
      let calls = 0
      const lookup = {
        ...about,
        admissionMode: 'locking-script',
        spendNotificationMode: 'none',
        outputAdmittedByTopic: () => new Promise(done => setTimeout(done, ++calls > 10 ? 500 : 0)),
        outputEvicted: async () => undefined,
        lookup: async () => []
      }
      export const topics = {
        tm_guestbook: { ...about, identifyAdmissibleOutputs: async () => ({ outputsToAdmit: [0], coinsToRetain: [] }) }
      }
      export const lookups = { ls_slow: lookup }`
    )
    const plugins = JSON.stringify({ module: slow, concurrency: 1 })
    const args = ['serve', '--plugins', plugins, '--store', 'memory:', '--port', '0']
    const node = await commands.serve(args, ADMIN)
    for (let i = 0; i < 10; i++) expect(await submit(node, `entry ${i}`)).toBe(ADMITTED)
    const replay = commands.start(['lookups', 'replay', 'ls_slow', '--url', node.url, '--json'], ADMIN)
    const delivery = async () => {
      const { stdout } = await commands.run(['lookups', '--url', node.url, '--json'], ADMIN)
      return JSON.parse(stdout).find(({ service }: { service: string }) => service === 'ls_slow').delivery
    }
    await expect.poll(async () => (await delivery()).lag, { timeout: 20_000 }).toBeGreaterThan(0)
    replay.child.kill('SIGINT')
    expect(await replay.ended).toBe(1)
    expect(JSON.parse(replay.stdout())).toMatchObject({ interrupted: true })
    await expect.poll(async () => (await delivery()).status, { timeout: 30_000 }).toBe('current')
    expect(await commands.stop(node)).toBe(0)
  })

  it('says when the node has no admin plane', async () => {
    const node = await commands.serve(['serve', '--store', 'memory:', '--port', '0'])
    const { status, stderr } = await commands.run(['lookups', '--url', node.url], ADMIN)
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining('has no admin plane: start the node with --admin-token')
    ])
    expect(await commands.stop(node)).toBe(0)
  })
})

describe('quoin dev', () => {
  it('loads a changed plug-in again, keeps the store, and keeps the loaded one while a file is wrong', async () => {
    const path = project('developed')
    const entry = join(path, 'backend/src/entry.ts')
    const topic = join(path, 'backend/src/topic-managers/GuestbookTopicManager.ts')
    const file = join(path, 'deployment-info.json')
    const node = await commands.serve(['dev', file, '--store', 'memory:', '--port', '0'])
    const printed = (text: string | RegExp) =>
      expect.poll(() => node.stdout(), { timeout: 30_000 }).toMatch(text)
    await printed('Changed plug-ins are loaded again')
    expect(await submit(node, 'Hello')).toBe(ADMITTED)

    // A file that both modules import.
    const source = readFileSync(entry, 'utf8')
    writeFileSync(entry, source.replace('MAX_LENGTH = 280', 'MAX_LENGTH = 4'))
    await printed(/reloaded \S+GuestbookTopicManager\.ts: tm_guestbook, in .*entry\.ts changed/)
    await printed(/reloaded \S+GuestbookLookupServiceFactory\.ts: ls_guestbook, in .*entry\.ts changed/)
    expect(await submit(node, 'Hello, again')).toBe('tm_guestbook  took nothing of it')
    expect(await submit(node, 'Bye')).toBe(ADMITTED)

    const right = readFileSync(topic, 'utf8')
    writeFileSync(topic, `${right}\nnot TypeScript(`)
    await printed(
      /not reloaded \S+GuestbookTopicManager\.ts: .*cannot be loaded.*the loaded one keeps serving/
    )
    expect(await submit(node, 'Ciao')).toBe(ADMITTED)
    const count = (): number => node.stdout().split('\nreloaded ').length - 1
    const before = count()
    writeFileSync(topic, right.replace("'Guestbook', short", "'Book', short"))
    await expect.poll(count, { timeout: 30_000 }).toBe(before + 1)
    expect(node.stdout()).toContain('of tm_guestbook is ')

    writeFileSync(file, readFileSync(file, 'utf8').replace('Local LARS', 'Mine'))
    await printed('deployment-info.json changed: restart quoin dev to apply it')
    expect(await entries(node)).toBe(3)
    expect(await commands.stop(node)).toBe(0)
  })

  it('shows the output of a plug-in, and loads one again that lacked a file', async () => {
    const path = join(folder, 'single.mjs')
    const text = (extra: string) => `${extra}
      console.log('loaded')
      const about = { getDocumentation: async () => '', getMetaData: async () => ({ name: 'x', shortDescription: 'x' }) }
      export default { identifyAdmissibleOutputs: async () => ({ outputsToAdmit: [0], coinsToRetain: [] }), ...about }`
    writeFileSync(path, text(''))
    const node = await commands.serve([
      'dev',
      '--plugins',
      `tm_guestbook=${path}`,
      '--store',
      'memory:',
      '--port',
      '0'
    ])
    await expect.poll(() => node.stderr()).toMatch(/single\.mjs: loaded/)
    await expect.poll(() => node.stdout()).toContain('Changed plug-ins are loaded again')
    writeFileSync(path, text(`import './later.mjs'`))
    await expect.poll(() => node.stdout(), { timeout: 30_000 }).toMatch(/not reloaded \S*single\.mjs/)
    writeFileSync(join(folder, 'later.mjs'), '')
    await expect
      .poll(() => node.stdout(), { timeout: 30_000 })
      .toMatch(/\nreloaded \S*single\.mjs: tm_guestbook.*later\.mjs/)
    expect(await submit(node, 'Hello')).toBe(ADMITTED)
    expect(await commands.stop(node)).toBe(0)
  })

  it('needs something to develop', async () => {
    const { status, stderr } = await commands.run(['dev', '--store', 'memory:', '--port', '0'])
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining('no plug-ins to develop: expected deployment-info.json')
    ])
  })
})
