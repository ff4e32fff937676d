/** Checks of the machine: Node and its signature library, open files, memory, the disk, the port. */
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { totalmem } from 'node:os'
import { signatureBackend } from '@quoin/chain'
import { bytes, count } from '@quoin/primitives/command'
import { parseFilesUrl } from '@quoin/store'
import { diskSpace, MIN_FREE_BYTES } from '../../server/disk.ts'
import type { Config } from '../../server/settings.ts'
import { type Check, type Diagnosis, failure, ok, warning } from './diagnosis.ts'

/** Beside streams: the files of the store, connections of requests, peers and processes. */
const SPARE_FILES = 1024
const MIN_MEMORY_BYTES = 1e9

const signatures: Check = {
  name: 'signatures',
  run: async () => [
    signatureBackend() === 'native'
      ? ok('signatures', `verified by libsecp256k1, Node ${process.version}`)
      : warning(
          'signatures',
          'verified in JavaScript, forty times slower: the binary of the package secp256k1 does not load',
          'install a C compiler, then run npm rebuild secp256k1'
        )
  ]
}

/** Of this process: Node raises the soft limit to the hard one. */
const openFilesLimit = async (): Promise<number | undefined> => {
  const text = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const [, limit] = /^Max open files\s+(\d+|unlimited)/m.exec(text) ?? []
  if (limit === undefined) return undefined
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit)
}

export const filesDiagnosis = (limit: number | undefined, { limits }: Pick<Config, 'limits'>): Diagnosis => {
  const needed = limits.streams + SPARE_FILES
  if (limit === undefined) return ok('open files', 'the limit is not known on this system')
  if (limit >= needed)
    return ok('open files', `the limit is ${limit === Number.POSITIVE_INFINITY ? 'none' : count(limit)}`)
  return warning(
    'open files',
    `the limit is ${count(limit)}, and ${count(limits.streams)} live streams need ${count(needed)}`,
    `set ulimit -n ${needed}, or LimitNOFILE=${needed} in the unit of systemd, or lower limits.streams`
  )
}

const openFiles: Check = {
  name: 'open files',
  run: async ({ config }) => [filesDiagnosis(await openFilesLimit(), config)]
}

const memory: Check = {
  name: 'memory',
  run: async () => [
    totalmem() >= MIN_MEMORY_BYTES
      ? ok('memory', `${bytes(totalmem())} on this machine`)
      : warning(
          'memory',
          `${bytes(totalmem())} on this machine, and a node with interpreters takes 1 GB under load`,
          'set limits.interpreters: 2 and limits.pluginMemory: 128, or take a larger machine'
        )
  ]
}

const disk: Check = {
  name: 'disk',
  async run({ config: { store, backups } }) {
    const path = parseFilesUrl(store)?.path
    const places = [
      ...(path === undefined ? [] : [['disk of the store', path] as const]),
      ...(backups === undefined ? [] : [['disk of the backups', backups] as const])
    ]
    return Promise.all(
      places.map(async ([name, place]) => {
        const { free, total } = await diskSpace(place)
        const message = `${bytes(free)} of ${bytes(total)} are free`
        return free >= MIN_FREE_BYTES
          ? ok(name, message)
          : failure(name, `${message}, expected 1 GB`, `free some space, or name another place than ${place}`)
      })
    )
  }
}

type PortState = 'free' | 'node' | 'other' | NodeJS.ErrnoException

/** Whether a port can be listened on; a node that has it already answers `/health/live`. */
export const portState = async (host: string, port: number): Promise<PortState> => {
  const error = await new Promise<NodeJS.ErrnoException | undefined>(resolve => {
    const server = createServer()
    server.once('error', resolve)
    server.listen(port, host, () => server.close(() => resolve(undefined)))
  })
  if (!error) return 'free'
  if (error.code !== 'EADDRINUSE') return error
  const answer = await fetch(`${localUrl(host, port)}/health/live`, {
    signal: AbortSignal.timeout(5000)
  }).catch(() => undefined)
  const found = (await answer?.json().catch(() => undefined)) as
    | { service?: { version?: string } }
    | undefined
  return found?.service?.version === undefined ? 'other' : 'node'
}

/** An address at which this machine reaches a node that listens on `host`. */
export const localUrl = (host: string, port: number): string => {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}

const port: Check = {
  name: 'port',
  async run({ config: { host, port: number } }) {
    const place = `${host} port ${number}`
    const state = number === 0 ? 'free' : await portState(host, number)
    if (state === 'free') return [ok('port', `${place} is free`)]
    if (state === 'node') return [ok('port', `a Quoin node listens on ${place}`)]
    if (state === 'other')
      return [failure('port', `another program listens on ${place}`, 'end it, or set another port')]
    return [
      failure(
        'port',
        `${place} cannot be listened on: ${state.message}`,
        'set host and port to an address of this machine'
      )
    ]
  }
}

export const MACHINE_CHECKS: readonly Check[] = [signatures, openFiles, memory, disk, port]
