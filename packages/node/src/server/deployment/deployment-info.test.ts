/** Projects of BRC-102: what LARS and CARS run, and for each mistake the place in the file. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { QuoinError } from '@quoin/primitives'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../config.ts'
import { parseDeploymentInfo, readDeploymentInfo } from './deployment-info.ts'
import { deploymentEnvironment } from './environment.ts'

const folder = mkdtempSync(join(tmpdir(), 'quoin-deployment-'))
afterAll(() => rmSync(folder, { recursive: true }))
mkdirSync(join(folder, 'backend/src'), { recursive: true })
for (const name of ['Topic.ts', 'Lookup.ts']) writeFileSync(join(folder, 'backend/src', name), '')
const path = join(folder, 'deployment-info.json')

const PROJECT = {
  schema: 'bsv-app',
  schemaVersion: '1.0',
  topicManagers: { tm_meter: './backend/src/Topic.ts' },
  lookupServices: { ls_meter: { serviceFactory: './backend/src/Lookup.ts', hydrateWith: 'knex' } },
  frontend: { language: 'react', sourceDirectory: './frontend' },
  contracts: { language: 'sCrypt', baseDirectory: './backend' },
  configs: [
    { name: 'Cloud', provider: 'CARS', network: 'mainnet', CARSCloudURL: 'https://cars.example' },
    { name: 'Local LARS', provider: 'LARS', network: 'testnet', run: ['backend', 'frontend'] }
  ],
  anythingElse: true
}
const parse = (change: object) => parseDeploymentInfo(JSON.stringify({ ...PROJECT, ...change }), path)
const refusal = (change: object): string => {
  try {
    parse(change)
  } catch (error) {
    expect(error).toMatchObject({ code: 'ERR_CONFIG' })
    return (error as Error).message
  }
  return 'accepted'
}

describe('a project', () => {
  it('is module specs, a network, and the parts that a node does not serve', () => {
    writeFileSync(path, JSON.stringify(PROJECT))
    const compilerOptions = { experimentalDecorators: true, emitDecoratorMetadata: true }
    expect(readDeploymentInfo(path)).toEqual({
      path,
      plugins: [
        {
          module: join(folder, 'backend/src/Topic.ts'),
          directory: folder,
          name: 'tm_meter',
          compilerOptions
        },
        {
          module: join(folder, 'backend/src/Lookup.ts'),
          directory: folder,
          name: 'ls_meter',
          hydrateWith: 'knex',
          compilerOptions
        }
      ],
      network: 'test',
      notServed: [
        'frontend: run your own dev server in ./frontend',
        'contracts: compile them yourself, for example npm run compile'
      ]
    })
  })

  it('without hydrateWith has a factory that takes no database', () => {
    const serviceFactory = './backend/src/Lookup.ts'
    for (const hydrateWith of [undefined, null, 'none']) {
      const { plugins } = parse({ lookupServices: { ls_meter: { serviceFactory, hydrateWith } } })
      expect(plugins[1]).not.toHaveProperty('hydrateWith')
    }
  })

  it.each([
    [{ schema: undefined }, 'schema is absent; expected "bsv-app" (BRC-102)'],
    [{ schemaVersion: '2.0' }, 'schemaVersion is "2.0"; expected "1.0"'],
    [{ topicManagers: ['x'] }, 'topicManagers is ["x"]; expected an object with an entry for each name'],
    [
      { topicManagers: { meter: './backend/src/Topic.ts' } },
      'topicManagers.meter: expected a name of the form tm_…'
    ],
    [{ topicManagers: { tm_meter: 5 } }, 'topicManagers.tm_meter is 5; expected the path of a module'],
    [
      { topicManagers: { tm_meter: './absent.ts' } },
      `topicManagers.tm_meter is "./absent.ts"; the file does not exist: ${join(folder, 'absent.ts')}`
    ],
    [{ topicManagers: { tm_meter: './backend' } }, 'the file does not exist'],
    [
      { lookupServices: { ls_meter: './x.ts' } },
      'lookupServices.ls_meter is "./x.ts"; expected an object with'
    ],
    [
      { lookupServices: { ls_meter: {} } },
      'lookupServices.ls_meter.serviceFactory is absent; expected the path'
    ],
    [
      { lookupServices: { ls_meter: { serviceFactory: './backend/src/Lookup.ts', hydrateWith: 'redis' } } },
      'lookupServices.ls_meter.hydrateWith is "redis"; expected "mongo", "knex", or the key absent'
    ],
    [{ configs: {} }, 'configs is {}; expected a list of configurations'],
    [{ configs: [5] }, 'configs[0] is 5; expected an object'],
    [{ configs: [{ network: 'moon' }] }, 'configs[0].network is "moon"; expected "mainnet" or "testnet"']
  ])('%j is refused', (change, message) => {
    expect(refusal(change)).toContain(message)
    expect(refusal(change)).toContain(path)
  })

  it('is refused with every problem at once', () => {
    expect(refusal({ schema: 1, configs: 5 })).toMatch(
      /invalid deployment file .*\n {2}schema is 1.*\n {2}configs is 5/
    )
    expect(() => parseDeploymentInfo('{', path)).toThrow('invalid JSON')
    expect(() => parseDeploymentInfo('[]', path)).toThrow('expected an object with the key schema')
    expect(() => readDeploymentInfo(join(folder, 'absent.json'))).toThrow('cannot read the deployment file')
  })

  it('any JSON is a project or an error with a code', () => {
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom(...Object.values(PROJECT)))
    const project = fc.dictionary(fc.constantFrom(...Object.keys(PROJECT)), value)
    fc.assert(
      fc.property(fc.oneof(project, fc.jsonValue()), given => {
        try {
          parseDeploymentInfo(JSON.stringify(given), path)
        } catch (error) {
          expect(error).toBeInstanceOf(QuoinError)
        }
      })
    )
  })
})

describe('variables of LARS and CARS', () => {
  it('set their counterparts, and the others are named with a reason', () => {
    const { settings, variables } = deploymentEnvironment({
      MONGO_URL: 'mongodb://localhost/meter',
      KNEX_URL: 'mysql://root:pass@localhost/meter',
      ADMIN_BEARER_TOKEN: 'correct-horse-battery-staple',
      NETWORK: 'main',
      REQUEST_LOGGING: 'false',
      HOSTING_URL: 'localhost:8080',
      SERVER_PRIVATE_KEY: 'c0ffee',
      GASP_SYNC: '',
      PATH: '/bin'
    })
    expect(settings).toEqual({
      mongo: 'mongodb://localhost/meter',
      knex: { client: 'mysql2', connection: 'mysql://root:pass@localhost/meter' },
      adminToken: 'correct-horse-battery-staple',
      network: 'main',
      logLevel: 'warn'
    })
    expect(variables).toContainEqual({ variable: 'MONGO_URL', setting: 'mongo' })
    expect(variables).toContainEqual({
      variable: 'HOSTING_URL',
      setting: undefined,
      reason: 'the node advertises nothing'
    })
    expect(variables.map(({ variable }) => variable)).not.toContain('GASP_SYNC')
    expect(JSON.stringify(variables)).not.toContain('c0ffee')
    expect(deploymentEnvironment({ KNEX_URL: 'oracle://x', NETWORK: 'moon' })).toEqual({
      settings: {},
      variables: [
        { variable: 'KNEX_URL', setting: undefined, reason: 'expected a mysql:// or postgres:// URL' },
        { variable: 'NETWORK', setting: undefined, reason: 'expected main or test' }
      ]
    })
  })

  it('are below QUOIN_ variables and options, and do not apply without a project', () => {
    writeFileSync(path, JSON.stringify(PROJECT))
    const environment = {
      MONGO_URL: 'mongodb://a',
      ADMIN_BEARER_TOKEN: 'a-token-of-the-tools',
      QUOIN_MONGO: 'mongodb://b'
    }
    const { config, origins } = loadConfig({ deployment: path, environment })
    expect(config).toMatchObject({ mongo: 'mongodb://b', adminToken: 'a-token-of-the-tools' })
    expect(origins.get('adminToken')).toBe('ADMIN_BEARER_TOKEN')
    expect(loadConfig({ environment }).config.adminToken).toBeUndefined()
    const wrong = { ...environment, ADMIN_BEARER_TOKEN: 'short' }
    expect(() => loadConfig({ deployment: path, environment: wrong })).toThrow(
      'ADMIN_BEARER_TOKEN: adminToken'
    )
  })
})

describe('the configuration of a project', () => {
  it('has the plug-ins of the project before others, and a network where headers come from somewhere', () => {
    writeFileSync(path, JSON.stringify(PROJECT))
    const options = { plugins: './extra.js' }
    const { config, deployment } = loadConfig({ deployment: path, options, environment: { NETWORK: 'test' } })
    expect(config.plugins.map(each => (typeof each === 'string' ? each : each.name))).toEqual([
      'tm_meter',
      'ls_meter',
      './extra.js'
    ])
    expect(config.network).toBeUndefined()
    expect(loadConfig({ deployment: path }).origins.get('plugins')).toBe(path)
    expect(deployment!.variables).toEqual([
      { variable: 'NETWORK', setting: undefined, reason: expect.stringContaining('the chain is dev') }
    ])
    const chain = 'headers:http://localhost:3011'
    expect(loadConfig({ deployment: path, options: { chain } }).config.network).toBe('test')
    expect(loadConfig({ deployment: path, options: { chain, network: 'main' } }).config.network).toBe('main')
  })

  it('says which database a service lacks', () => {
    const serviceFactory = './backend/src/Lookup.ts'
    const lookupServices = { ls_meter: { serviceFactory, hydrateWith: 'mongo' } }
    writeFileSync(path, JSON.stringify({ ...PROJECT, lookupServices }))
    expect(() => loadConfig({ deployment: path })).toThrow(
      'mongo is not set, but ls_meter is hydrated with it'
    )
    expect(loadConfig({ deployment: path, environment: { MONGO_URL: 'mongodb://x' } }).config.mongo).toBe(
      'mongodb://x'
    )
  })
})
