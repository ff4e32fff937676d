/** Connections over TLS, with the certificates that the URL names. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openEngine } from '../open.ts'
import { sharedPostgres, startPostgres } from './server.testing.ts'

it('speaks TLS as the URL says, and refuses a certificate that it does not trust', async () => {
  const server = await startPostgres({ tls: true })
  const statusOf = async (query: string): Promise<string> => {
    const engine = await openEngine(`${server.url}?${query}`)
    await engine.probe()
    await engine.close()
    return 'open'
  }
  try {
    expect(await statusOf('sslmode=require')).toBe('open')
    const root = join(server.dir, 'server.crt')
    expect(await statusOf(`sslmode=verify-full&sslrootcert=${root}`)).toBe('open')
    await expect(statusOf('sslmode=verify-full')).rejects.toMatchObject({ code: 'ERR_STORE_URL' })
    await expect(statusOf('sslmode=disable')).rejects.toMatchObject({ code: 'ERR_STORE_URL' })
  } finally {
    await server.stop()
  }
})

it('says that a server has no TLS', async () => {
  const { url } = await sharedPostgres()
  await expect(openEngine(`${url}?sslmode=require`)).rejects.toMatchObject({ code: 'ERR_STORE_URL' })
})
