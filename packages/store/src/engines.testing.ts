/** The engines there are, each with what it needs to be opened empty, as often as a test likes. */
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StoreContract } from '@quoin/store-contract'
import type { Engine } from './engine.ts'
import { openModel } from './model.testing.ts'
import { openEngine } from './open.ts'
import { emptyTables, sharedPostgres } from './postgres/server.testing.ts'
import { type RedisServer, startRedis } from './redis/server.testing.ts'

export interface Harness extends Pick<StoreContract, 'open' | 'reopen' | 'openBackup'> {
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

/** On a server of its own, which is emptied for each engine. */
const onRedis = (): Harness => {
  let server: RedisServer | undefined
  return {
    start: async () => {
      server = await startRedis()
    },
    open: async () => {
      await server!.command('FLUSHALL')
      return openEngine(server!.url)
    },
    reopen: async engine => {
      await engine.close()
      return openEngine(server!.url)
    },
    stop: async () => server?.stop()
  }
}

/** On the server of this process, whose tables are emptied for each engine. */
const onPostgres = (): Harness => {
  let url = ''
  return {
    start: async () => {
      url = (await sharedPostgres()).url
    },
    open: async () => {
      const engine = await openEngine(url)
      await emptyTables(url)
      return engine
    },
    reopen: async engine => {
      await engine.close()
      return openEngine(url)
    }
  }
}

export const ENGINES: Readonly<Record<string, Harness>> = {
  model: { open: async () => openModel(), openBackup: async backup => openModel({ backup }) },
  memory: { open: () => openEngine('memory:') },
  lmdb: inFolders('lmdb'),
  level: inFolders('level'),
  redis: onRedis(),
  postgres: onPostgres()
}
