/** Opens the engine that a URL names. */
import { QuoinError } from '@quoin/primitives'
import type { Engine } from './engine.ts'
import { type ReconnectOptions, reconnecting } from './reconnecting-engine.ts'
import { parseFilesUrl } from './url.ts'

const EXAMPLES =
  'memory:, lmdb:PATH, level:PATH, redis://HOST:PORT, rediss://HOST:PORT, postgres://HOST/DATABASE'

export interface OpenOptions {
  /** `false` fails where there is no store yet, instead of making one. Of servers it means nothing. */
  readonly create?: boolean
  /** Waits for a server whose connection is lost, instead of rejecting; see `reconnecting-engine.ts`. */
  readonly reconnect?: ReconnectOptions
}

/** Imports the module of one engine only: no engine needs the dependencies of another. */
export const openEngine = async (url: string, { create, reconnect }: OpenOptions = {}): Promise<Engine> => {
  const files = parseFilesUrl(url)
  const creating = create === undefined ? {} : { create }
  if (files?.kind === 'lmdb') {
    const { path, readOnly } = files
    return (await import('./ordered/lmdb.ts')).openLmdb(path, { readOnly, ...creating })
  }
  if (files?.kind === 'level') return (await import('./ordered/level.ts')).openLevel(files.path, creating)
  if (url === 'memory:') return (await import('./ordered/memory.ts')).openMemory()
  if (/^rediss?(-cluster)?:/.test(url)) {
    const engine = await (await import('./redis/index.ts')).openRedis(url)
    return reconnect ? reconnecting(engine, reconnect) : engine
  }
  if (/^postgres(ql)?:/.test(url)) {
    const engine = await (await import('./postgres/index.ts')).openPostgres(url)
    return reconnect ? reconnecting(engine, reconnect) : engine
  }
  throw new QuoinError('ERR_STORE_URL', `unknown store URL ${JSON.stringify(url)}; expected ${EXAMPLES}`, {
    url
  })
}
