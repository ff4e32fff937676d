/** Opens a store for long work: on Redis a lost connection is waited for. */
import type { Store } from '@quoin/store'

export const openForLong = async (url: string, onMessage: () => void): Promise<Store> => {
  const { openStore } = await import('@quoin/store')
  if (!/^rediss?:/.test(url)) return openStore(url, { create: false })
  return openStore(url, {
    reconnect: {
      onLost: error => {
        onMessage()
        process.stderr.write(`quoin: ${error.message}; it goes on from here when the server is back\n`)
      }
    }
  })
}
