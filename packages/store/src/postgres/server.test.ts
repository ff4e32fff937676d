import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import pg from 'pg'
import { expect, it } from 'vitest'
import { startPostgres } from './server.testing.ts'

const ask = async (url: string, sql: string): Promise<unknown> => {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows[0]?.[0]
  } finally {
    await client.end()
  }
}

it('a server keeps its data when it is killed and started again, and leaves nothing when it stops', async () => {
  const server = await startPostgres({ settings: { fsync: 'on', work_mem: '5MB' } })
  try {
    expect(await ask(server.url, 'SHOW work_mem')).toBe('5MB')
    await ask(server.url, 'CREATE TABLE t AS SELECT 42 AS n')
    await server.restart()
    expect(await ask(server.url, 'SELECT n FROM t')).toBe(42)
  } finally {
    await server.stop()
  }
  expect([existsSync(server.dir), server.process.exitCode]).toEqual([false, 0])
})

it('a server does not outlive the process that started it, however that ends', async () => {
  const code = `
    const { startPostgres } = await import(${JSON.stringify(new URL('./server.testing.ts', import.meta.url))})
    const { url, dir } = await startPostgres()
    console.log(JSON.stringify({ url, dir }))
    setInterval(() => {}, 1000)`
  const parent = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const [line] = (await once(parent.stdout, 'data')) as [Buffer]
  const { url, dir } = JSON.parse(line.toString()) as { url: string; dir: string }
  expect(await ask(url, 'SELECT 1')).toBe(1)
  parent.kill('SIGKILL')
  await expect.poll(() => existsSync(dir)).toBe(false)
  await expect(ask(url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED')
})
