import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from './server.testing.ts'

const running: RedisServer[] = []
const started = async (starting: Promise<RedisServer>): Promise<RedisServer> => {
  const server = await starting
  running.push(server)
  return server
}
afterEach(async () => {
  await Promise.all(running.splice(0).map(server => server.stop()))
})

const runs = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const accepts = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => resolve(false))
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })

describe('a server', () => {
  it('keeps what was acknowledged when it is killed, on the same port', async () => {
    const server = await started(startRedis({ appendonly: true, appendfsync: 'always' }))
    const { port, dir, url } = server
    expect(url).toBe(`redis://127.0.0.1:${port}`)
    const pid = server.process.pid!
    for (let n = 0; n < 20; n++) await server.command('SET', `key ${n}`, `välue ${n}`)
    await server.kill()
    expect(runs(pid)).toBe(false)
    await expect(server.command('PING')).rejects.toThrow(/ECONNREFUSED/)

    await server.restart()
    expect([server.port, server.dir]).toEqual([port, dir])
    expect(server.process.pid).not.toBe(pid)
    for (let n = 0; n < 20; n++) expect(await server.command('GET', `key ${n}`)).toBe(`välue ${n}`)
  })

  it('without a log of writes forgets them', async () => {
    const server = await started(startRedis())
    await server.command('SET', 'key', 'value')
    await server.restart()
    expect(await server.command('GET', 'key')).toBeNull()
  })

  it('takes other directives, and tells what it refuses', async () => {
    const server = await started(startRedis({ config: { maxmemory: '64mb' } }))
    expect(await server.command('INFO', 'memory')).toContain('maxmemory:67108864')
    await expect(server.command('SET', 'key')).rejects.toThrow(/wrong number of arguments/)
    await expect(startRedis({ config: { nonsense: 'yes' } })).rejects.toThrow(/nonsense/)
  })

  it('is not mistaken for another one on its port', async () => {
    const { port } = await started(startRedis())
    await expect(startRedis({ port })).rejects.toThrow(/Address already in use/)
  })

  it('leaves neither a process nor a folder when it stops', async () => {
    const server = await startRedis({ appendonly: true })
    const pid = server.process.pid!
    await server.stop()
    await server.stop()
    expect([runs(pid), existsSync(server.dir)]).toEqual([false, false])
    await expect(server.restart()).rejects.toThrow(/stopped/)
  })

  it('does not outlive the process that started it, however that ends', async () => {
    const code = `
      const { startRedis } = await import(${JSON.stringify(new URL('./server.testing.ts', import.meta.url))})
      const { port, dir } = await startRedis()
      console.log(JSON.stringify({ port, dir }))
      setInterval(() => {}, 1000)`
    const parent = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit']
    })
    const [line] = (await once(parent.stdout, 'data')) as [Buffer]
    const { port, dir } = JSON.parse(line.toString()) as { port: number; dir: string }
    expect([await accepts(port), existsSync(dir)]).toEqual([true, true])
    parent.kill('SIGKILL')
    await expect.poll(async () => [await accepts(port), existsSync(dir)]).toEqual([false, false])
  })
})
