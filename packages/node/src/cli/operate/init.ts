/** `quoin init`: a file of settings for a network, from options and the answers of a person, with its services checked. */
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { QuoinError, reasonOf } from '@quoin/primitives'
import { EXIT, paint, print, printJson } from '@quoin/primitives/command'
import { configuration } from '../node/settings.ts'
import { MACHINE_CHECKS } from './check-machine.ts'
import { NETWORK_CHECKS } from './check-network.ts'
import { STORE_CHECKS } from './check-store.ts'
import { printDiagnoses, runChecks } from './diagnosis.ts'
import { settingsFile } from './settings-file.ts'

export const NETWORKS = ['mainnet', 'testnet', 'development'] as const
type Network = (typeof NETWORKS)[number]

export interface InitOptions extends Readonly<Record<string, unknown>> {
  readonly file: string
  readonly force?: boolean
  /** `false` with `--no-check`. */
  readonly check: boolean
  readonly json?: boolean
}

/** Asks a person, and takes an empty answer for the proposed one. */
export type Ask = (question: string, proposed: string) => Promise<string>

export const init = async (network: string | undefined, options: InitOptions): Promise<number> => {
  const isAsking = process.stdin.isTTY === true && process.stdout.isTTY === true && !options.json
  if (!isAsking) return initWith(network, options, undefined)
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const ask: Ask = async (question, proposed) =>
      (await lines.question(`${question}${proposed === '' ? '' : ` [${proposed}]`}: `)).trim() || proposed
    return await initWith(network, options, ask)
  } finally {
    lines.close()
  }
}

export const initWith = async (
  given: string | undefined,
  options: InitOptions,
  ask: Ask | undefined
): Promise<number> => {
  const network = networkOf(given ?? (await ask?.(`network: ${NETWORKS.join(', ')}`, 'mainnet')))
  const { loadConfig, SETTINGS } = await configuration()
  const texts = new Map<string, string | readonly string[]>(Object.entries(defaultsOf(network)))
  for (const { key, path } of SETTINGS) {
    const value = options[optionName(path)]
    if (value !== undefined) texts.set(key, value as string | readonly string[])
  }
  if (ask) await askFor(ask, network, texts)
  if (network !== 'development' && !texts.has('chain')) {
    throw new QuoinError(
      'ERR_USAGE',
      `a node on ${network} takes its headers from a service: give --chain headers:URL (Chaintracks, or another Quoin ` +
        'as headers:https://HOST/1sat/chaintracks) or --chain block-headers:URL',
      { network }
    )
  }
  const file = resolve(options.file)
  const loaded = loadConfig({ options: Object.fromEntries(texts) })
  const values = new Map(
    SETTINGS.filter(({ key }) => texts.has(key)).map(({ key, path }) => [key, valueAt(loaded.config, path)])
  )
  await write(file, settingsFile(title(network), values), options.force ?? false)
  // With the paths as the file has them, relative to its directory.
  const { config } = loadConfig({ file })
  const checks = options.check ? [...MACHINE_CHECKS, ...STORE_CHECKS, ...NETWORK_CHECKS] : []
  const diagnoses = await runChecks(checks, { config })
  const isGood = diagnoses.every(({ status }) => status !== 'error')
  const next = isGood ? `quoin serve ${options.file}` : `quoin doctor ${options.file}`
  if (options.json) printJson({ file, network, diagnoses, next })
  else {
    const secret = config.adminToken === undefined ? '' : ': it has the admin token'
    print(`${paint('bold', options.file)} is written, readable for its owner only${secret}`)
    printDiagnoses(diagnoses)
    print(`next: ${paint('cyan', next)}${isGood ? '' : ', after what is an error above is mended'}`)
  }
  return isGood ? EXIT.ok : EXIT.no
}

const networkOf = (text: string | undefined): Network => {
  const found = NETWORKS.find(each => each === text)
  if (found) return found
  const problem = text === undefined ? 'no network is given' : `${text} is no network`
  throw new QuoinError('ERR_USAGE', `${problem}; expected quoin init ${NETWORKS.join(' | ')}`, {
    network: text
  })
}

const defaultsOf = (network: Network): Readonly<Record<string, string>> => {
  if (network === 'development') return { chain: 'dev', store: 'lmdb:./quoin-data' }
  return {
    network: network === 'mainnet' ? 'main' : 'test',
    store: 'lmdb:./quoin-data',
    // A proxy of this machine has the certificate.
    host: '127.0.0.1',
    trustProxy: 'loopback',
    adminToken: randomBytes(32).toString('base64url'),
    backups: './quoin-backups'
  }
}

const askFor = async (
  ask: Ask,
  network: Network,
  texts: Map<string, string | readonly string[]>
): Promise<void> => {
  const question = async (key: string, text: string): Promise<void> => {
    const proposed = texts.get(key)
    const answer = await ask(text, typeof proposed === 'string' ? proposed : '')
    if (answer !== '') texts.set(key, answer)
  }
  await question('store', 'store')
  if (network === 'development') return
  if (!texts.has('chain')) {
    const url = await ask(
      'URL of a Chaintracks service for headers (another Quoin: https://HOST/1sat/chaintracks)',
      ''
    )
    if (url !== '') texts.set('chain', /^https?:/.test(url) ? `headers:${url}` : url)
  }
  await question('host', 'address to listen on; 127.0.0.1 behind a proxy on this machine')
  await question('backups', 'directory for backups')
}

const title = (network: Network): string =>
  `Settings of a Quoin node: ${network}. Settings without a value here have their defaults, which are shown.
Each is also an environment variable (QUOIN_PORT) and an option (--port); later wins: file, environment, option.
Check them: quoin config FILE, quoin doctor FILE.`

/** The property that commander gives the option of a setting. */
const optionName = (path: readonly string[]): string =>
  path.map((word, i) => (i === 0 ? word : word[0]!.toUpperCase() + word.slice(1))).join('')

const valueAt = (config: object, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], config)

const write = async (file: string, text: string, isForced: boolean): Promise<void> => {
  try {
    await writeFile(file, text, { mode: 0o600, flag: isForced ? 'w' : 'wx' })
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === 'EEXIST'
    const reason = exists ? 'it exists; --force replaces it, --file names another' : reasonOf(error)
    throw new QuoinError('ERR_FILE', `cannot write ${file}: ${reason}`, { file, cause: error })
  }
}
