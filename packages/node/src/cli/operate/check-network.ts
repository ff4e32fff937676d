/**
 * Checks of the services that a configuration names, and of the clock by their answers. Only these are asked: a
 * configuration that names none is checked without the network.
 */
import { blockHeadersServiceSource, chaintracksSource, type HeaderSource, parseHeader } from '@quoin/chain'
import { fetchReasonOf, reasonOf } from '@quoin/primitives'
import type { Config } from '../../server/settings.ts'
import { type Check, type Diagnosis, failure, ok, type Subject, warning } from './diagnosis.ts'

const TIMEOUT_MS = 10_000
/** A node refuses blocks that are two hours ahead of its clock; leases and proofs need less. */
const MAX_SKEW_S = 10
const MAX_TIP_AGE_S = 3 * 3600

/** Requests that keep how far the clocks of the servers are from this one. */
class Network {
  readonly #skews: number[] = []

  readonly fetch: typeof fetch = async (input, init) => {
    const since = Date.now()
    const answer = await fetch(input, { ...init, signal: init?.signal ?? AbortSignal.timeout(TIMEOUT_MS) })
    const date = Date.parse(answer.headers.get('date') ?? '')
    // The header has whole seconds.
    if (!Number.isNaN(date)) this.#skews.push((date + 500 - (since + Date.now()) / 2) / 1000)
    return answer
  }

  /** The median of the differences, in seconds; undefined without an answer. */
  get skew(): number | undefined {
    return this.#skews.toSorted((a, b) => a - b)[Math.floor(this.#skews.length / 2)]
  }
}

const headerSource = ({ chain, chainToken }: Config, network: Network): HeaderSource | undefined => {
  const [, kind, url] = /^((?:block-)?headers):(.+)$/.exec(chain) ?? []
  if (url === undefined) return undefined
  const options = {
    fetch: network.fetch,
    timeout: TIMEOUT_MS,
    ...(chainToken !== undefined && { token: chainToken })
  }
  return kind === 'headers' ? chaintracksSource(url, options) : blockHeadersServiceSource(url, options)
}

const headers = async ({ config }: Subject, network: Network): Promise<Diagnosis[]> => {
  const source = headerSource(config, network)
  if (!source) {
    if (config.chain === 'dev') return [ok('headers', 'of the development chain of the node')]
    const remedy = 'set chain to headers:URL, a Chaintracks service'
    return [
      config.chain === 'scripts-only'
        ? warning('headers', 'none: proofs are taken on trust', remedy)
        : warning('headers', 'the stored ones, which nothing renews', remedy)
    ]
  }
  const check = `headers ${source.name}`
  try {
    const { height } = await source.tip()
    const raw = await source.headers(height, 1)
    if (raw.length !== 80)
      return [failure(check, `has a tip at ${height} and no header of it`, 'set chain to another service')]
    const age = Date.now() / 1000 - parseHeader(raw).time
    const message = `height ${height}, a block of ${Math.max(0, Math.round(age / 60))} minutes ago`
    return [
      age <= MAX_TIP_AGE_S || config.network === 'regtest'
        ? ok(check, message)
        : warning(
            check,
            message,
            'the service may stand still, or be of another network: compare its height with another'
          )
    ]
  } catch (error) {
    return [
      failure(
        check,
        reasonOf(error),
        'set chain to a service that answers, as headers:https://HOST/PATH; chainToken is its token'
      )
    ]
  }
}

/** A GET that is answered with success. */
const answers = async (
  network: Network,
  check: string,
  url: string,
  remedy: string,
  judge: (answer: Response) => Promise<Diagnosis | undefined> = async () => undefined
): Promise<Diagnosis> => {
  try {
    const answer = await network.fetch(url, { redirect: 'error' })
    if (!answer.ok)
      return failure(check, `answered with status ${answer.status} to ${new URL(url).pathname}`, remedy)
    return (await judge(answer)) ?? ok(check, 'answers')
  } catch (error) {
    return failure(check, `cannot be reached: ${fetchReasonOf(error)}`, remedy)
  }
}

/** Any answer, of any status, is one. */
const isThere = async (network: Network, check: string, url: string, setting: string): Promise<Diagnosis> => {
  try {
    const { status } = await network.fetch(url, { redirect: 'manual' })
    const remedy = `look at the log of the service, or set ${setting} to another`
    return status < 500 ? ok(check, 'answers') : warning(check, `answers with status ${status}`, remedy)
  } catch (error) {
    return failure(
      check,
      `cannot be reached: ${fetchReasonOf(error)}`,
      `set ${setting} to a service that answers`
    )
  }
}

const trimmed = (url: string): string => url.replace(/\/+$/, '')

const peers = ({ config }: Subject, network: Network): Promise<Diagnosis>[] =>
  Object.entries(config.peers).flatMap(([topic, urls]) =>
    urls.map(url =>
      answers(
        network,
        `peer ${topic} ${url}`,
        `${trimmed(url)}/listTopicManagers`,
        'correct or remove it in peers',
        async answer => {
          const topics = (await answer.json()) as Record<string, unknown>
          if (Object.hasOwn(topics, topic)) return undefined
          return failure(
            `peer ${topic} ${url}`,
            `does not have ${topic}`,
            'remove it from peers, or correct the topic'
          )
        }
      )
    )
  )

const sources = ({ config: { bsv21, proofs } }: Subject, network: Network): Promise<Diagnosis>[] => [
  ...(proofs === undefined ? [] : [isThere(network, `proofs ${proofs}`, proofs, 'proofs')]),
  ...(!bsv21.enabled || bsv21.junglebus === undefined
    ? []
    : [isThere(network, `source ${bsv21.junglebus}`, bsv21.junglebus, 'bsv21.junglebus')]),
  ...(bsv21.enabled ? bsv21.peers : []).map(url =>
    answers(network, `source ${url}`, `${trimmed(url)}/health/live`, 'correct or remove it in bsv21.peers')
  )
]

const broadcasters = ({ config: { broadcast, chain } }: Subject, network: Network): Promise<Diagnosis>[] => {
  if (chain === 'dev') return []
  const { processors, callback } = broadcast
  if (processors.length === 0) {
    const remedy = 'set broadcast to arc:URL or arcade:URL, unless clients send their transactions themselves'
    return [Promise.resolve(warning('broadcaster', 'none: submissions are not sent to the network', remedy))]
  }
  const asked = processors.map(processor => {
    const url = processor.replace(/^\w+:/, '')
    return isThere(network, `broadcaster ${url}`, url, 'broadcast')
  })
  if (callback !== undefined) return asked
  const remedy = 'set broadcast.callback to the public URL of /arc-ingest, and arcToken'
  return [...asked, Promise.resolve(warning('broadcaster', 'statuses are not reported to this node', remedy))]
}

const publicAddress = async (subject: Subject, network: Network): Promise<Diagnosis[]> => {
  const uri = subject.uri ?? subject.config.advertise.uri
  if (uri === undefined) return []
  const check = `address ${uri}`
  if (!/^https:\/\//.test(uri))
    return [
      failure(
        check,
        'clients take only https addresses (BRC-101)',
        'put a proxy with a certificate in front of the node'
      )
    ]
  const remedy = 'look at the DNS name, the firewall, the certificate and the proxy (deploy/nginx.conf)'
  const judge = async (answer: Response): Promise<Diagnosis | undefined> => {
    const { service } = (await answer.json()) as { service?: { version?: string } }
    return service?.version === undefined
      ? failure(check, 'answers, and is no Quoin node', remedy)
      : undefined
  }
  return [await answers(network, check, `${trimmed(uri)}/health/live`, remedy, judge)]
}

const clock = (skew: number | undefined): Diagnosis => {
  if (skew === undefined) return ok('clock', 'no service answered to compare it with')
  const seconds = Math.abs(skew)
  if (seconds <= MAX_SKEW_S) return ok('clock', `within ${Math.max(1, Math.ceil(seconds))} s of the services`)
  const message = `${Math.round(seconds)} s ${skew > 0 ? 'behind' : 'ahead of'} the services`
  return failure('clock', message, 'synchronise it: timedatectl set-ntp true')
}

/** The services by their settings, then the clock. */
export const NETWORK_CHECKS: readonly Check[] = [
  {
    name: 'network',
    async run(subject) {
      const network = new Network()
      const found = await Promise.all([
        headers(subject, network),
        Promise.all([
          ...sources(subject, network),
          ...broadcasters(subject, network),
          ...peers(subject, network)
        ]),
        publicAddress(subject, network)
      ])
      return [...found.flat(), clock(network.skew)]
    }
  }
]
