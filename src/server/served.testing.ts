/** A node in a process of its own, as an operator runs it, and clients that send to it: for benchmarks. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const BIN = fileURLToPath(new URL('../../bin/quoin.js', import.meta.url))
const PLUGIN = `const about = {
  getDocumentation: async () => 'Admits all outputs.',
  getMetaData: async () => ({ name: 'All outputs', shortDescription: 'All outputs' })
}
export const topics = {
  tm_all: { ...about, admit: ({ transaction }) => ({ outputs: [...transaction.outputs.keys()] }) }
}
`
const CONNECTIONS = 64

export interface Served {
  /** From the start of the process until it is ready to serve. */
  readonly startMs: number
  /** Resident memory in megabytes. */
  memory(): Promise<number>
  /** Sends so many submissions a second, or as many as it takes, and answers how long each took. */
  submit(beefs: readonly Uint8Array[], perSecond?: number): Promise<number[]>
  close(): Promise<void>
}

export const serve = async (folder: string): Promise<Served> => {
  const plugin = join(folder, 'all.mjs')
  await writeFile(plugin, PLUGIN)
  const since = performance.now()
  const child = spawn(
    process.execPath,
    [
      ...[BIN, 'serve', '--port', '0', '--store', `lmdb:${join(folder, 'store')}`, '--plugins', plugin],
      ...['--chain', 'scripts-only', '--index', 'off', '--log-level', 'warn', '--limits-rate', '0']
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] }
  )
  const url = await listening(child)
  const startMs = performance.now() - since
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const send = (body: Uint8Array): Promise<void> =>
    new Promise((resolve, reject) => {
      const sent = request(`${url}/submit`, {
        agent,
        method: 'POST',
        headers: { 'x-topics': '["tm_all"]', 'content-length': body.length }
      })
      sent.on('error', reject)
      sent.on('response', answer => {
        answer.resume()
        answer.on('end', () => {
          if (answer.statusCode === 200) resolve()
          else reject(new Error(`a submission was answered with ${answer.statusCode}`))
        })
      })
      sent.end(body)
    })
  return {
    startMs,
    memory: async () => {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
      return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024)
    },
    submit: (beefs, perSecond) => {
      const timed = async (beef: Uint8Array): Promise<number> => {
        const start = performance.now()
        await send(beef)
        return performance.now() - start
      }
      return perSecond === undefined ? atOnce(beefs, timed) : inStep(beefs, perSecond, timed)
    },
    close: async () => {
      agent.destroy()
      child.kill()
      await once(child, 'exit')
    }
  }
}

const listening = async (child: ChildProcess): Promise<string> => {
  let out = ''
  for await (const data of child.stdout!.iterator({ destroyOnReturn: false })) {
    out += String(data)
    const [, url] = /listening on (http:\S+)/.exec(out) ?? []
    if (url) return url
  }
  throw new Error('the node ended before it listened')
}

type Timed = (beef: Uint8Array) => Promise<number>

/** Each connection sends its next one when the last is answered. */
const atOnce = async (beefs: readonly Uint8Array[], timed: Timed): Promise<number[]> => {
  const took: number[] = []
  let next = 0
  const client = async (): Promise<void> => {
    while (next < beefs.length) took.push(await timed(beefs[next++]!))
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, client))
  return took
}

/** One after the other at a steady pace, whether or not the last is answered. */
const inStep = async (beefs: readonly Uint8Array[], perSecond: number, timed: Timed): Promise<number[]> => {
  const start = performance.now()
  const sent: Promise<number>[] = []
  while (sent.length < beefs.length) {
    const due = Math.min(beefs.length, Math.ceil(((performance.now() - start) * perSecond) / 1000))
    while (sent.length < due) sent.push(timed(beefs[sent.length]!))
    await new Promise(resolve => setTimeout(resolve, 1))
  }
  return Promise.all(sent)
}
