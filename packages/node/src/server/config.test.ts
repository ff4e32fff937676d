/** What a configuration promises: one order of sources, nothing ignored, and errors that say where and what. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TAG_LIMITS } from '@quoin/kvstore'
import { hasCode, QuoinError } from '@quoin/primitives'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { type ConfigSources, loadConfig, networkOf, type Problem, shownConfig } from './config.ts'
import { nearest } from './nearest-word.ts'
import { SETTINGS } from './settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'quoin-config-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = (content: string): string => {
  const path = join(folder, 'quoin.yaml')
  writeFileSync(path, content)
  return path
}
const problemsOf = (sources: ConfigSources): readonly Problem[] => {
  try {
    loadConfig(sources)
  } catch (error) {
    if (hasCode(error, 'ERR_CONFIG')) return error.details['problems'] as Problem[]
    throw error
  }
  return []
}
const problem = (sources: ConfigSources): string => {
  const [first, ...more] = problemsOf(sources)
  expect(more).toEqual([])
  return `${first!.source}: ${first!.message}`
}
const TOKEN = 'correct-horse-battery-staple'

describe('sources', () => {
  it('without any, everything has its default', () => {
    const { config, origins } = loadConfig({})
    expect(config).toMatchObject({
      store: 'lmdb:./quoin-data',
      host: '127.0.0.1',
      port: 8080,
      chain: 'dev',
      peers: {},
      index: 'all',
      plugins: [],
      logLevel: 'info'
    })
    expect(config.adminToken).toBeUndefined()
    expect(networkOf(config)).toBe('regtest')
    expect(new Set(origins.values())).toEqual(new Set(['the default']))
  })

  it('later ones win: file, environment, options', () => {
    const path = file('port: 1\nhost: 10.0.0.1\nlimits: { page: 10, body: 2000 }\njournal: 5\n')
    const { config, origins } = loadConfig({
      file: path,
      environment: { QUOIN_PORT: '2', QUOIN_LIMITS_PAGE: '20', QUOIN_ARC_TOKEN: '', PATH: '/bin' },
      options: { port: '3', host: undefined }
    })
    expect(config).toMatchObject({ port: 3, host: '10.0.0.1', journal: 5, limits: { page: 20, body: 2000 } })
    expect(['port', 'host', 'limits.page', 'limits.rate'].map(key => origins.get(key))).toEqual([
      '--port',
      path,
      'QUOIN_LIMITS_PAGE',
      'the default'
    ])
  })

  it('the file may be named by the environment, and an empty one says nothing', () => {
    expect(loadConfig({ environment: { QUOIN_CONFIG: file('port: 9\n') } }).config.port).toBe(9)
    expect(loadConfig({ file: file('# nothing\n') }).config.port).toBe(8080)
    expect(() => loadConfig({ file: join(folder, 'absent.yaml') })).toThrow('cannot read the configuration')
  })

  it('what is true or false is either of the two, and on unless it is told otherwise', () => {
    expect(loadConfig({}).config.kvstore).toBe(true)
    expect(loadConfig({ environment: { QUOIN_KVSTORE: 'false' } }).config.kvstore).toBe(false)
    expect(loadConfig({ file: file('kvstore: false\n'), options: { kvstore: 'true' } }).config.kvstore).toBe(
      true
    )
    expect(() => loadConfig({ options: { kvstore: 'no' } })).toThrow(
      'kvstore is "no"; expected true or false'
    )
  })

  it('limits of the key-value store are its own unless set', () => {
    const { kvTags, kvTagBytes } = loadConfig({}).config.limits
    expect({ tags: kvTags, tagBytes: kvTagBytes }).toEqual(TAG_LIMITS)
  })

  it('lists, peers and kinds of script are texts where there is nothing but text', () => {
    const environment = {
      QUOIN_PLUGINS: './a.js, ./b.js',
      QUOIN_PEERS: 'tm_a=http://one:8080,tm_a=https://two,tm_b=http://one:8080',
      QUOIN_INDEX: 'p2pkh,bsv21'
    }
    expect(loadConfig({ environment }).config).toMatchObject({
      plugins: ['./a.js', './b.js'],
      peers: { tm_a: ['http://one:8080', 'https://two'], tm_b: ['http://one:8080'] },
      index: ['p2pkh', 'bsv21']
    })
    expect(loadConfig({ options: { index: 'off', plugins: ['./a.js', './b.js'] } }).config).toMatchObject({
      index: 'off',
      plugins: ['./a.js', './b.js']
    })
  })

  it('starts of anchors are heights by topic, in a text too', () => {
    const anchors = { tm_a: 850_000, tm_b: 0 }
    expect(loadConfig({ options: { anchors: 'tm_a=850000,tm_b=0' } }).config.anchors).toEqual(anchors)
    expect(loadConfig({ file: file(stringify({ anchors })) }).config.anchors).toEqual(anchors)
    for (const wrong of ['tm_a', 'tm_a=', 'tm_a=-1', 'tm_a=1.5', 'tm_a=4294967296', 'other=1']) {
      expect(() => loadConfig({ options: { anchors: wrong } })).toThrow('anchors')
    }
  })

  it('processors of transactions are a list, in a file also in place of their group', () => {
    const processors = ['arc:https://arc.example', 'arcade:http://10.0.0.1:8080/api']
    const chain = 'headers:https://headers.example'
    const expected = { processors, when: 'before', timeout: 5000, rebroadcast: 1800 }
    const list = { options: { chain, 'broadcast.processors': processors } }
    expect(loadConfig(list).config.broadcast).toEqual(expected)
    const environment = {
      QUOIN_CHAIN: chain,
      QUOIN_BROADCAST: processors.join(','),
      QUOIN_BROADCAST_TOKENS: 'one,'
    }
    expect(loadConfig({ environment }).config.broadcast).toEqual({ ...expected, tokens: ['one', ''] })
    const short = file(stringify({ chain, broadcast: processors }))
    expect(loadConfig({ file: short }).config.broadcast).toEqual(expected)
    const long = file(stringify({ chain, broadcast: { processors: processors.slice(0, 1), when: 'with' } }))
    expect(loadConfig({ file: long }).config.broadcast).toMatchObject({
      when: 'with',
      processors: [processors[0]]
    })
    expect(
      loadConfig({ file: file(stringify({ chain, broadcast: processors[0] })) }).config.broadcast
    ).toMatchObject({
      processors: [processors[0]]
    })
  })

  it('paths in a file are relative to it', () => {
    const path = file('store: lmdb:./data\nplugins: [./one.js, a-package, /abs/two.js]\n')
    expect(loadConfig({ file: path }).config).toMatchObject({
      store: `lmdb:${folder}/data`,
      plugins: [`${folder}/one.js`, { module: 'a-package', directory: folder }, '/abs/two.js']
    })
  })

  it('plug-ins are texts or objects, and objects are JSON in an option', () => {
    const entry = { module: './ls.ts', name: 'ls_x', hydrateWith: 'knex', options: { depth: 3 } }
    const text = `tm_x=./x.ts#X, ${JSON.stringify(entry)},some-package`
    const { config } = loadConfig({ options: { plugins: text } })
    expect(config.plugins).toEqual(['tm_x=./x.ts#X', entry, 'some-package'])
    expect(loadConfig({ environment: { QUOIN_PLUGINS: text } }).config.plugins).toEqual(config.plugins)
    const path = file(
      stringify({ plugins: ['tm_x=./x.ts#X', entry], knex: { connection: { filename: 'a.db' } } })
    )
    expect(loadConfig({ file: path }).config).toMatchObject({
      plugins: [
        { module: `${folder}/x.ts`, export: 'X', name: 'tm_x' },
        { ...entry, module: `${folder}/ls.ts` }
      ],
      knex: { connection: { filename: `${folder}/a.db` } }
    })
  })

  it('databases of plug-ins are a URL and JSON', () => {
    const options = { mongo: 'mongodb://localhost:27017/x', knex: '{"client":"pg"}' }
    expect(loadConfig({ options }).config).toMatchObject({ mongo: options.mongo, knex: { client: 'pg' } })
  })

  it('whatever the settings are, a file, the environment and options say the same', () => {
    const values = fc.record({
      port: fc.integer({ min: 0, max: 65_535 }),
      journal: fc.integer({ min: 0, max: 1e9 }),
      chain: fc.constantFrom(
        'dev',
        'headers',
        'headers:http://localhost:3011',
        'block-headers:https://a.example/x'
      ),
      index: fc.constantFrom('all', 'off', ['p2pkh'], ['bsv21', 'map']),
      adminToken: fc.stringMatching(/^[!-~]{16,40}$/),
      peers: fc.dictionary(fc.stringMatching(/^tm_[a-z0-9_]{1,9}$/), fc.array(fc.webUrl(), { minLength: 1 }))
    })
    fc.assert(
      fc.property(values, given => {
        fc.pre(
          Object.values(given.peers)
            .flat()
            .every(url => !/[,=]/.test(url))
        )
        const texts = {
          ...given,
          port: String(given.port),
          journal: String(given.journal),
          index: String(given.index),
          peers: Object.entries(given.peers)
            .flatMap(([topic, urls]) => urls.map(url => `${topic}=${url}`))
            .join(',')
        }
        const environment = Object.fromEntries(
          Object.entries(texts).map(([key, text]) => [
            SETTINGS.find(each => each.key === key)!.variable,
            text
          ])
        )
        const { peers, ...others } = texts
        const expected = { ...loadConfig({}).config, ...given }
        expect(loadConfig({ file: file(stringify(given)) }).config).toEqual(expected)
        expect(loadConfig({ environment }).config).toEqual(expected)
        expect(loadConfig({ options: { ...others, ...(peers && { peers }) } }).config).toEqual(expected)
      }),
      { numRuns: 200 }
    )
  })
})

describe('what is wrong', () => {
  it.each([
    [
      { environment: { QUOIN_PORT: 'http' } },
      'QUOIN_PORT: port is "http"; expected a whole number from 0 to 65535'
    ],
    [{ options: { port: '65536' } }, '--port: port is 65536; expected a whole number from 0 to 65535'],
    [
      { environment: { QUOIN_TRUST_PROXY: 'loopback,nginx' } },
      'QUOIN_TRUST_PROXY: trustProxy has ["nginx"]; expected a list of loopback, private, addresses and subnets'
    ],
    [
      { options: { network: 'mainnet' } },
      '--network: network is "mainnet"; expected one of main, test, regtest'
    ],
    [{ options: { chain: 'headers:ftp://x' } }, 'expected dev, scripts-only, headers, headers:URL'],
    [
      { environment: { QUOIN_PROT: '1' } },
      'the environment: unknown setting QUOIN_PROT; did you mean QUOIN_PORT?'
    ],
    [
      { environment: { QUOIN_XYZZYXYZZY: '1' } },
      'unknown setting QUOIN_XYZZYXYZZY; expected QUOIN_STORE, QUOIN_HOST'
    ],
    [{ environment: { QUOIN_INDEX: 'p2pkh,pushdorp' } }, 'expected all, off, or a list of p2pkh, lock'],
    [{ environment: { QUOIN_PEERS: 'tm_a' } }, 'expected the names of topics (tm_…)'],
    [{ environment: { QUOIN_PEERS: 'other=http://x' } }, 'expected the names of topics (tm_…)'],
    [{ options: { network: 'main' } }, '--network: network is main, but the chain dev is regtest'],
    [
      { options: { chain: 'scripts-only', host: '0.0.0.0' } },
      '--host: host is 0.0.0.0, but with scripts-only proofs are taken on trust'
    ]
  ])('%j', (sources, message) => {
    expect(problem(sources)).toContain(message)
  })

  it('is broadcasting without a network, with too many tokens, or with callbacks that anyone could send', () => {
    const chain = 'headers:https://headers.example'
    expect(problem({ options: { 'broadcast.processors': 'arc:https://arc.example' } })).toMatch(
      /chain dev takes submissions/
    )
    const tokens = { chain, 'broadcast.tokens': 'one' }
    expect(problem({ options: tokens })).toMatch(/1 tokens for 0 processors/)
    const callback = { chain, 'broadcast.callback': 'https://node.example/arc-ingest' }
    expect(problem({ options: callback })).toMatch(/set arcToken too/)
    expect(problem({ options: { chain, 'broadcast.processors': 'taal:https://arc.example' } })).toMatch(
      /arc:URL and arcade:URL/
    )
  })

  it('names the entry of a plug-in, and the database that it lacks', () => {
    const plugins = JSON.stringify({ module: './ls.ts', name: 'ls_x', hydrateWith: 'mongo' })
    expect(problem({ options: { plugins } })).toBe(
      '--plugins: mongo is not set, but ls_x is hydrated with it; expected mongodb://… ' +
        '(--mongo, QUOIN_MONGO, or MONGO_URL with a deployment file)'
    )
    expect(problem({ options: { plugins: plugins.replace('mongo', 'mysql') } })).toBe(
      '--plugins: plugins[0].hydrateWith is "mysql"; expected mongo or knex'
    )
    const knex = plugins.replace('mongo', 'knex')
    expect(problem({ options: { plugins: knex, store: 'redis://localhost:6379' } })).toContain(
      'knex is not set, but ls_x is hydrated with it; with a store on a server expected'
    )
    expect(problemsOf({ options: { plugins: knex } })).toEqual([])
    expect(problem({ options: { mongo: 'mysql://x' } })).toContain(
      'expected a mongodb:// or mongodb+srv:// URL'
    )
    expect(problem({ options: { knex: '{"client"' } })).toContain(
      'knex is "{\\"client\\""; expected an object'
    )
  })

  it.each([
    ['prot: 1', 'unknown setting prot; did you mean port?'],
    ['admin-token: abc', 'unknown setting admin-token; did you mean adminToken?'],
    ['limits: { pages: 1 }', 'unknown setting limits.pages; did you mean limits.page?'],
    ['limits: 5', 'expected settings of limits, each with its value'],
    ['- port', 'expected settings, each with its value'],
    ['port: "1"', 'port is "1"; expected a whole number'],
    ['port:', 'port is null; expected a whole number'],
    ['store: 5', 'store is 5; expected a store, for example lmdb:./quoin-data'],
    [
      'store: memory:',
      'line 1: Nested mappings are not allowed in compact mappings; quote a value that ends in a colon: "memory:"'
    ],
    ['port: 1\nport: 2', 'line 2: Map keys must be unique'],
    ['port: [1', 'line 1'],
    ['__proto__: { port: 1 }', 'unknown setting __proto__'],
    ['a: &a [x, x]\nb: &b [*a, *a]\n', 'unknown setting a']
  ])('in a file: %j', (content, message) => {
    const [first] = problemsOf({ file: file(content) })
    expect(`${first!.source}: ${first!.message}`).toContain(message)
    expect(first!.source).toContain('quoin.yaml')
  })

  it('is said all at once', () => {
    const sources = { file: file('prot: 1\nhost: 7\n'), environment: { QUOIN_PORT: '-1' } }
    expect(problemsOf(sources)).toHaveLength(3)
    expect(() => loadConfig(sources)).toThrow(/the configuration is wrong\n(.*\n){2}.*QUOIN_PORT/)
  })

  it('never shows the tokens of processors', () => {
    const options = {
      chain: 'headers:https://headers.example',
      'broadcast.processors': 'arc:https://arc.example',
      'broadcast.tokens': TOKEN
    }
    const shown = shownConfig(loadConfig({ options }).config)
    expect(shown.broadcast).toMatchObject({ tokens: '(hidden)', when: 'before' })
    expect(JSON.stringify(shown)).not.toContain(TOKEN)
    expect(problem({ options: { ...options, 'broadcast.tokens': `${TOKEN} ${TOKEN}` } })).not.toContain(TOKEN)
  })

  it('never shows a secret', () => {
    expect(problem({ environment: { QUOIN_ADMIN_TOKEN: 'swordfish' } })).toBe(
      'QUOIN_ADMIN_TOKEN: adminToken: expected 16 to 512 printable characters without spaces'
    )
    const { config } = loadConfig({
      options: { adminToken: TOKEN, store: 'redis://me:swordfish@localhost:6379', chain: 'scripts-only' }
    })
    const shown = JSON.stringify(shownConfig(config))
    expect(shown).not.toContain(TOKEN)
    expect(shown).not.toContain('swordfish')
    expect(shown).toContain('redis://me:(hidden)@localhost:6379')
    const databases = {
      mongo: 'mongodb://me:swordfish@localhost/x?tlsCertificateKeyFilePassword=swordfish',
      knex: '{"client":"pg","connection":{"host":"db","password":"swordfish"},"replica":"pg://a:swordfish@b"}',
      plugins: '{"module":"./x.js","options":{"apiKey":"swordfish","depth":3}}'
    }
    const second = JSON.stringify(shownConfig(loadConfig({ options: databases }).config))
    expect(second).not.toContain('swordfish')
    expect(second).toContain('mongodb://me:(hidden)@localhost/x')
    expect(second).toContain('"host":"db"')
    expect(problem({ environment: { QUOIN_MONGO: 'mysql://me:swordfish@x' } })).not.toContain('swordfish')
  })

  it('whatever a file or the environment hold, the answer is a configuration or an error with a code', () => {
    const scalar = fc.oneof(fc.string(), fc.integer(), fc.double(), fc.boolean(), fc.constant(null))
    const key = fc.oneof(fc.constantFrom(...SETTINGS.map(each => each.path[0]!)), fc.string())
    const tree = fc.letrec(tie => ({
      value: fc.oneof(
        scalar,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(key, tie('value'), { maxKeys: 4 })
      )
    })).value
    const content = fc.oneof(
      fc.string({ unit: 'binary' }),
      tree.map(value => stringify(value))
    )
    const variables = fc.dictionary(
      fc.oneof(
        fc.constantFrom(...SETTINGS.map(each => each.variable)),
        fc.string().map(text => `QUOIN_${text}`)
      ),
      fc.string().filter(text => text !== 'QUOIN_CONFIG')
    )
    fc.assert(
      fc.property(content, variables, (text, environment) => {
        try {
          const { config } = loadConfig({ file: file(text), environment })
          expect(config.port).toBeTypeOf('number')
        } catch (error) {
          expect(error).toBeInstanceOf(QuoinError)
          expect((error as QuoinError).code).toBe('ERR_CONFIG')
        }
      }),
      { numRuns: 1000 }
    )
  })

  it('is not stretched by a file of references to references', () => {
    const lines = ['plugins: &a0 [x, x, x, x, x, x, x, x, x]']
    for (let i = 1; i < 12; i++)
      lines.push(
        `k${i}: &a${i} [${Array(9)
          .fill(`*a${i - 1}`)
          .join(', ')}]`
      )
    const before = performance.now()
    expect(problemsOf({ file: file(lines.join('\n')) })[0]!.message).toContain('alias')
    expect(performance.now() - before).toBeLessThan(5000)
  })
})

describe('nearest', () => {
  it('finds what was meant, and nothing where nothing is near', () => {
    expect(nearest('adminTokn', ['arcToken', 'adminToken'])).toBe('adminToken')
    expect(nearest('ADMIN_TOKEN', ['arcToken', 'adminToken'])).toBe('adminToken')
    expect(nearest('colour', ['port', 'host'])).toBeUndefined()
  })

  it('of a word that is there is that word', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.stringMatching(/^[a-z]{1,20}$/), { minLength: 1 }), words => {
        for (const word of words) expect(nearest(word, words)).toBe(word)
      })
    )
  })
})
