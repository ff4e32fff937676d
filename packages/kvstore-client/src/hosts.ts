/**
 * The hosts of the global store: configured, or discovered by their advertisements (BRC-88), SLAP for lookups and SHIP for
 * submissions.
 */

import { HTTPSOverlayLookupFacilitator, LookupResolver, OverlayAdminTokenTemplate } from '@bsv/sdk'
import { QuoinError } from '@quoin/primitives'

import { Bundle } from './bundle.ts'

/** The names of the public profile (BRC-35 §3.1). */
export const SERVICE = 'ls_kvstore'
export const TOPIC = 'tm_kvstore'

export interface HostOptions {
  /** URL of the node, or several: `https://kv.example`. */
  readonly host?: string | readonly string[]
  /** Network to discover hosts on without `host`; default `mainnet`. `local` is `http://localhost:8080`. */
  readonly network?: 'mainnet' | 'testnet' | 'local'
  /** SLAP trackers that replace the defaults of the network. */
  readonly trackers?: readonly string[]
}

export interface Hosts {
  readonly lookup: () => Promise<readonly string[]>
  readonly submit: () => Promise<readonly string[]>
}

const LOCAL = 'http://localhost:8080'
const DISCOVERY_TTL_MS = 5 * 60_000

export const hostsOf = ({ host, network = 'mainnet', trackers }: HostOptions): Hosts => {
  if (host !== undefined) return fixed(typeof host === 'string' ? [host] : host)
  if (network === 'local') return fixed([LOCAL])
  const allowHttp = trackers?.some(url => url.startsWith('http:')) ?? false
  const resolver = new LookupResolver({
    networkPreset: network,
    ...(trackers && { slapTrackers: [...trackers] }),
    facilitator: new HTTPSOverlayLookupFacilitator(undefined, allowHttp),
    // The failures of other users of the SDK in this process do not exclude a host.
    reputationStorage: { get: () => undefined, set: () => undefined }
  })
  const find = async (protocol: 'SLAP' | 'SHIP'): Promise<readonly string[]> => {
    const [name, question] =
      protocol === 'SLAP'
        ? [SERVICE, { service: 'ls_slap', query: { service: SERVICE } }]
        : [TOPIC, { service: 'ls_ship', query: { topics: [TOPIC] } }]
    const { outputs } = await resolver.query(question).catch((error: Error) => {
      throw noHost(name, error.message, error)
    })
    const domains = outputs.flatMap(({ beef, outputIndex }) =>
      advertisedUrls(protocol, name, beef, outputIndex, allowHttp)
    )
    if (domains.length === 0) throw noHost(name, 'no advertisement, or no tracker is reachable')
    return [...new Set(domains)]
  }
  return { lookup: cached(() => find('SLAP')), submit: cached(() => find('SHIP')) }
}

const fixed = (urls: readonly string[]): Hosts => {
  const hosts = urls.map(url => {
    if (!/^https?:\/\/[^/]/.test(url)) {
      throw new QuoinError('ERR_KV_HOST', `invalid host: ${url}, expected an http or https URL`, {
        hosts: { [url]: 'not a URL' }
      })
    }
    return url.replace(/\/+$/, '')
  })
  if (hosts.length === 0) {
    throw new QuoinError('ERR_KV_HOST', 'the list of hosts is empty; omit `host` to discover hosts', {
      hosts: {}
    })
  }
  const all = async (): Promise<readonly string[]> => hosts
  return { lookup: all, submit: all }
}

/** The URL of one advertisement; none when the untrusted output is not an advertisement of this service. */
const advertisedUrls = (
  protocol: string,
  name: string,
  beef: number[],
  vout: number,
  allowHttp: boolean
): string[] => {
  try {
    const bundle = new Bundle(Uint8Array.from(beef))
    const { lockingScript } = bundle.transaction(bundle.subject!)!.outputs[vout]!
    const token = OverlayAdminTokenTemplate.decode(lockingScript)
    const isOurs = token.protocol === protocol && token.topicOrService === name
    const isUrl = token.domain.startsWith('https://') || (allowHttp && token.domain.startsWith('http://'))
    return isOurs && isUrl ? [token.domain.replace(/\/+$/, '')] : []
  } catch {
    return []
  }
}

const noHost = (name: string, reason: string, cause?: unknown): QuoinError =>
  new QuoinError('ERR_KV_HOST', `no host found for ${name}: ${reason}`, { hosts: {}, cause })

/** Caches a result for `DISCOVERY_TTL_MS`; a failure is not cached. */
const cached = <T>(load: () => Promise<T>): (() => Promise<T>) => {
  let result: Promise<T> | undefined
  let expires = 0
  return () => {
    if (!result || Date.now() > expires) {
      expires = Date.now() + DISCOVERY_TTL_MS
      result = load()
      result.catch(() => {
        result = undefined
      })
    }
    return result
  }
}
