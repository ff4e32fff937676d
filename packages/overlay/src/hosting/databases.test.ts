/** Plug-ins that are handed a database: a `Db` of MongoDB, or a Knex with migrations. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { HostedLookup } from '../types.ts'
import { closeHosts, fixture, hostOf } from './hosting.testing.ts'
import { MongoServer } from './mongo.testing.ts'

let folder: string
let server: MongoServer
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quoin-databases-'))
  server = new MongoServer()
})
afterEach(async () => {
  await closeHosts()
  server.close()
  await rm(folder, { recursive: true, force: true })
})

const TXID = 'ab'.repeat(32)
const admit = (lookup: HostedLookup, outputIndex: number): Promise<void> =>
  lookup.outputAdmittedByTopic({
    mode: 'locking-script',
    txid: TXID,
    outputIndex,
    topic: 'tm_a',
    satoshis: 1,
    lockingScript: Uint8Array.of(0x51)
  })
const ask = async (lookup: HostedLookup, query: unknown) =>
  (await lookup.lookup({ service: 'ls_it', query })).map(({ txid, outputIndex, context }) => ({
    txid,
    outputIndex,
    context: Buffer.from(context!).toString()
  }))

it.each([
  ['the database of the URL', '/kept?retryWrites=false', 'kept'],
  ['the database `quoin`', '/?retryWrites=false', 'quoin']
])('a factory gets a Db of MongoDB: %s', async (_, path, database) => {
  const port = await server.listen()
  const { host } = await hostOf(
    [fixture('hydrated.mjs', { export: 'onMongo', name: 'ls_it', hydrateWith: 'mongo' })],
    {
      mongo: `mongodb://127.0.0.1:${port}${path}`
    }
  )
  const lookup = host.lookups['ls_it']!
  await admit(lookup, 4)
  expect(server.documents.get(`${database}.seen`)).toMatchObject([{ txid: TXID, outputIndex: 4 }])
  expect(await ask(lookup, 'all')).toEqual([{ txid: TXID, outputIndex: 4, context: `${database} all` }])
})

it('without a URL of MongoDB a factory that needs it is refused', async () => {
  const spec = fixture('hydrated.mjs', { export: 'onMongo', name: 'ls_it', hydrateWith: 'mongo' })
  await expect(hostOf([spec])).rejects.toMatchObject({
    code: 'ERR_PLUGIN',
    message: expect.stringContaining('set `mongo: mongodb://HOST/DATABASE`')
  })
})

it('a server that refuses connections is named, without the password', async () => {
  const port = await server.listen()
  server.close()
  const spec = fixture('hydrated.mjs', { export: 'onMongo', name: 'ls_it', hydrateWith: 'mongo' })
  const error = await hostOf([spec], {
    mongo: `mongodb://user:secret@127.0.0.1:${port}/x?serverSelectionTimeoutMS=500`
  }).catch((each: Error) => each)
  expect(error).toMatchObject({
    code: 'ERR_PLUGIN',
    message: expect.stringMatching(
      new RegExp(`cannot connect to mongodb://user:\\*\\*\\*@127\\.0\\.0\\.1:${port}.*ECONNREFUSED`)
    )
  })
  expect(JSON.stringify(error)).not.toContain('secret')
})

it('factories get a Knex on SQLite; migrations run once, in a table for each service', async () => {
  const specs = [
    fixture('hydrated.mjs', { export: 'onKnex', name: 'ls_one', hydrateWith: 'knex', options: { a: 1 } }),
    fixture('hydrated.mjs', { export: 'onKnexToo', name: 'ls_two', hydrateWith: 'knex' })
  ]
  const knex = { connection: { filename: join(folder, 'plugins.sqlite') } }
  const first = await hostOf(specs, { knex })
  await admit(first.host.lookups['ls_one']!, 1)
  await admit(first.host.lookups['ls_two']!, 2)
  await first.host.close()
  const { host } = await hostOf(specs, { knex })
  expect(await ask(host.lookups['ls_one']!, '')).toEqual([{ txid: TXID, outputIndex: 1, context: '{"a":1}' }])
  expect(await ask(host.lookups['ls_two']!, '')).toEqual([{ txid: TXID, outputIndex: 2, context: 'null' }])
})

it.each([
  ['no configuration', 'onKnex', undefined, /set `knex: \{ connection: \{ filename: FILE \} \}`/],
  [
    'a directory that is not there',
    'onKnex',
    { connection: { filename: '/nowhere/x.sqlite' } },
    /cannot open the database of Knex \(better-sqlite3\): /
  ],
  [
    'a client that is not installed',
    'onKnex',
    { client: 'oracledb', connection: {} },
    /run `npm install oracledb`/
  ],
  ['a migration that fails', 'badMigration', { connection: { filename: ':memory:' } }, /no such column/]
])('Knex with %s is refused', async (_, name, knex, reason) => {
  const spec = fixture('hydrated.mjs', { export: name, name: 'ls_it', hydrateWith: 'knex' })
  await expect(hostOf([spec], { knex })).rejects.toMatchObject({
    code: 'ERR_PLUGIN',
    message: expect.stringMatching(reason)
  })
})

it('the database package of the directory of the plug-in is preferred', async () => {
  const own = join(folder, 'node_modules/mongodb')
  await mkdir(own, { recursive: true })
  await writeFile(join(own, 'package.json'), '{ "name": "mongodb", "type": "module", "exports": "./own.js" }')
  await writeFile(
    join(own, 'own.js'),
    `export class MongoClient {
       constructor(url) { this.url = url }
       async connect() {}
       async close() {}
       db(name) { return { databaseName: name + ' of its own', collection: () => ({ find: () => ({ toArray: async () => [{ txid: '${TXID}', outputIndex: 0 }] }) }) } }
     }`
  )
  const module = join(folder, 'lookup.mjs')
  await writeFile(
    module,
    `export { onMongo as default } from ${JSON.stringify(fixture('hydrated.mjs').module)}`
  )
  const { host } = await hostOf([{ module, directory: folder, name: 'ls_it', hydrateWith: 'mongo' }], {
    mongo: 'mongodb://127.0.0.1:1/data'
  })
  expect(await ask(host.lookups['ls_it']!, 'x')).toMatchObject([{ context: 'data of its own x' }])
})
