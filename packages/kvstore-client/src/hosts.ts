/**
 * Which hosts keep the global store: those that are given, or those that advertise it (BRC-88), for lookups with SLAP
 * and for submissions with SHIP.
 */
import { HTTPSOverlayLookupFacilitator, LookupResolver, OverlayAdminTokenTemplate } from '@bsv/sdk'
import { QuoinError } from '@quoin/primitives'
import { Bundle } from './bundle.ts'

/** The names of the public profile (BRC-35 §3.1). */
export const SERVICE = 'ls_kvstore'
export const TOPIC = 'tm_kvstore'

export interface HostOptions {
  /** The node, or several: `https://kv.example`. */
  readonly host?: string | readonly string[]
  /** Where hosts are looked for when none is given, `mainnet` unless told; `local` is `http://localhost:8080`. */
  readonly network?: 'mainnet' | 'testnet' | 'local'
  /** SLAP trackers to ask instead of those of the network. */
  readonly trackers?: readonly string[]
}

export interface Hosts {
  readonly lookup: () => Promise<readonly string[]>
  readonly submit: () => Promise<readonly string[]>
}

const LOCAL = 'http://localhost:8080'
const KEPT_MS = 5 * 60_000

export const hostsOf = ({ host, network = 'mainnet', trackers }: HostOptions): Hosts => {
  if (host !== undefined) return fixed(typeof host === 'string' ? [host] : host)
  if (network === 'local') return fixed([LOCAL])
  const isPlain = trackers?.some(url => url.startsWith('http:')) ?? false
  const resolver = new LookupResolver({
    networkPreset: network,
    ...(trackers && { slapTrackers: [...trackers] }),
    facilitator: new HTTPSOverlayLookupFacilitator(undefined, isPlain),
    // What happened to other users of the SDK in this process is no reason not to ask.
    reputationStorage: { get: () => undefined, set: () => undefined }
  })
  const find = async (protocol: 'SLAP' | 'SHIP'): Promise<readonly string[]> => {
    const [name, question] =
      protocol === 'SLAP'
        ? [SERVICE, { service: 'ls_slap', query: { service: SERVICE } }]
        : [TOPIC, { service: 'ls_ship', query: { topics: [TOPIC] } }]
    const { outputs } = await resolver.query(question).catch((error: Error) => {
      throw none(name, error.message)
    })
    const domains = outputs.flatMap(({ beef, outputIndex }) =>
      advertised(protocol, name, beef, outputIndex, isPlain)
    )
    if (domains.length === 0) throw none(name, 'nobody advertises it, or no tracker can be reached')
    return [...new Set(domains)]
  }
  return { lookup: kept(() => find('SLAP')), submit: kept(() => find('SHIP')) }
}

const fixed = (given: readonly string[]): Hosts => {
  const hosts = given.map(url => {
    if (!/^https?:\/\/[^/]/.test(url)) {
      throw new QuoinError('ERR_KV_HOST', 'a host is a URL', { hosts: { [url]: 'it is no URL' } })
    }
    return url.replace(/\/+$/, '')
  })
  if (hosts.length === 0) throw new QuoinError('ERR_KV_HOST', 'no host is given', { hosts: {} })
  const all = async (): Promise<readonly string[]> => hosts
  return { lookup: all, submit: all }
}

/** Strangers advertise: what is no advertisement is passed over. */
const advertised = (
  protocol: string,
  name: string,
  beef: number[],
  vout: number,
  isPlain: boolean
): string[] => {
  try {
    const bundle = new Bundle(Uint8Array.from(beef))
    const { lockingScript } = bundle.transaction(bundle.subject!)!.outputs[vout]!
    const token = OverlayAdminTokenTemplate.decode(lockingScript)
    const isOurs = token.protocol === protocol && token.topicOrService === name
    const isUrl = token.domain.startsWith('https://') || (isPlain && token.domain.startsWith('http://'))
    return isOurs && isUrl ? [token.domain.replace(/\/+$/, '')] : []
  } catch {
    return []
  }
}

const none = (name: string, reason: string): QuoinError =>
  new QuoinError('ERR_KV_HOST', `no host is found for ${name}: ${reason}`, { hosts: {} })

/** Asked again after a while, and after a failure. */
const kept = <T>(ask: () => Promise<T>): (() => Promise<T>) => {
  let answer: Promise<T> | undefined
  let until = 0
  return () => {
    if (!answer || Date.now() > until) {
      until = Date.now() + KEPT_MS
      answer = ask()
      answer.catch(() => {
        answer = undefined
      })
    }
    return answer
  }
}
