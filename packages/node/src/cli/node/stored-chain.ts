/** The headers of a command that opens a store without a server. */
import { QuoinError } from '@quoin/primitives'
import type { Config, OpenNode } from '../../server/index.ts'
import { server } from './settings.ts'

/** Proofs need headers: the ones in the store, unless an option names another chain. */
export const withChain = async (config: Config, origin: string): Promise<Config> => {
  if (origin !== 'the default') return config
  const { openStore } = await import('@quoin/store')
  const { withStoredChain } = await server()
  const opened = await openStore(config.store)
  try {
    return await withStoredChain(config, opened)
  } finally {
    await opened.close()
  }
}

/** Brings the headers up to date with their source. */
export const catchUp = async ({ sync }: OpenNode): Promise<void> => {
  await sync?.once()
  const { status, message } = sync?.state() ?? {}
  if (status === 'error') throw new QuoinError('ERR_CHAIN_SOURCE', message!)
}
