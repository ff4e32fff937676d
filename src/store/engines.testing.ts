/** The engines there are, each with what it needs to be opened empty, as often as a test likes. */
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StoreContract } from './contract/index.ts'
import type { Engine } from './engine.ts'
import { openModel } from './model.testing.ts'
import { openEngine } from './open.ts'
import { type RedisCluster, type RedisServer, startCluster, startRedis } from './redis/server.testing.ts'

export interface Harness extends Pick<StoreContract, 'open' | 'reopen' | 'openBackup' | 'checksAcrossKeys'> {
  start?(): Promise<void>
  stop?(): Promise<void>
}

/** In a folder that is new for each engine. */
const inFolders = (scheme: string): Harness => {
  const folders = new Map<Engine, string>()
  const openAt = async (folder: string): Promise<Engine> => {
    const engine = await openEngine(`${scheme}:${folder}`)
    folders.set(engine, folder)
    return engine
  }
  return {
    open: async () => openAt(await mkdtemp(join(tmpdir(), `quoin-${scheme}-`))),
    reopen: async engine => {
      await engine.close()
      return openAt(folders.get(engine)!)
    },
    openBackup: directory => openEngine(`${scheme}:${directory}`),
    stop: async () => {
      for (const folder of folders.values()) rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** On servers of its own, which are emptied for each engine. */
const onRedis = (startServers: () => Promise<RedisServer | RedisCluster>): Harness => {
  let servers: RedisServer | RedisCluster | undefined
  return {
    start: async () => {
      servers = await startServers()
    },
    open: async () => {
      const nodes = 'nodes' in servers! ? servers.nodes : [servers!]
      for (const node of nodes) await node.command('FLUSHALL')
      return openEngine(servers!.url)
    },
    reopen: async engine => {
      await engine.close()
      return openEngine(servers!.url)
    },
    stop: async () => servers?.stop()
  }
}

export const ENGINES: Readonly<Record<string, Harness>> = {
  model: { open: async () => openModel(), openBackup: async backup => openModel({ backup }) },
  memory: { open: () => openEngine('memory:') },
  lmdb: inFolders('lmdb'),
  level: inFolders('level'),
  redis: onRedis(() => startRedis()),
  'redis cluster': { ...onRedis(() => startCluster({ masters: 3 })), checksAcrossKeys: false }
}
