/** `quoin lookups`: the lookup services of a node, the delivery to each, and replays. */

import { basename, isAbsolute } from 'node:path'
import type { DeliveryState, HostedModuleState } from '@quoin/overlay'
import { QuoinError } from '@quoin/primitives'
import { count, EXIT, paint, plural, print, printJson, table } from '@quoin/primitives/command'
import { askJson } from './http.ts'
import { duration } from './status.ts'

export interface LookupsOptions {
  readonly url: string
  readonly token?: string
  readonly json?: boolean
}

export interface ReplayOptions extends LookupsOptions {
  readonly from: string
  readonly topic?: string
}

interface LookupState {
  readonly service: string
  readonly delivery: DeliveryState | null
  readonly process: HostedModuleState | null
}

const POLL_MS = 500

export const lookups = async (options: LookupsOptions): Promise<number> => {
  const states = await statesOf(options)
  if (options.json) printJson(states)
  else if (states.length === 0) print('no lookup services')
  else print(table([HEAD, ...states.map(rowOf)]))
  for (const { service, delivery, process: host } of options.json ? [] : states) {
    const error = delivery?.lastError ?? (host?.state === 'running' ? undefined : host?.lastError)
    if (error) print(`${paint('red', service)}: ${error}`)
  }
  const isBad = states.some(
    ({ delivery }) => delivery && (delivery.status === 'failing' || delivery.dead > 0)
  )
  return isBad ? EXIT.no : EXIT.ok
}

const HEAD = ['service', 'state', 'lag', 'retrying', 'dead', 'last success', 'module', 'pid', 'restarts']

const rowOf = ({ service, delivery, process: host }: LookupState): string[] => {
  const module = host
    ? [nameOf(host.module), String(host.pid ?? '-'), count(host.restarts)]
    : ['the node', '-', '-']
  if (!delivery) return [service, 'in each commit', '-', '-', '-', '-', ...module]
  const { status, lag, retrying, dead, lastSuccess } = delivery
  const isRunning = !host || host.state === 'running'
  const state = isRunning ? status : host.state
  return [
    service,
    paint(state === 'current' ? 'green' : state === 'behind' ? 'yellow' : 'red', state),
    count(lag),
    count(retrying),
    count(dead),
    lastSuccess === undefined ? 'none yet' : `${duration((Date.now() - lastSuccess) / 1000)} ago`,
    ...module
  ]
}

/** The file without its directories, or the package. */
const nameOf = (module: string): string => (isAbsolute(module) ? basename(module) : module)

export const replay = async (service: string, options: ReplayOptions): Promise<number> => {
  const { topic, json = false } = options
  const after = positionOf(options)
  const began = performance.now()
  const path = `/admin/lookups/${encodeURIComponent(service)}/replay`
  const body = { after, ...(topic !== undefined && { topic }) }
  let interrupted = false
  const onSignal = (): void => {
    interrupted = true
  }
  process.once('SIGINT', onSignal)
  const progress = progressLine(service, process.stderr.isTTY === true && !json)
  try {
    const begun = await askJson<{ data: DeliveryState }>(options.url, path, body, authorization(options))
    let total = begun.data.lag + begun.data.retrying
    for (;;) {
      const state = (await statesOf(options)).find(each => each.service === service)?.delivery
      if (!state)
        throw new QuoinError('ERR_NODE_REFUSED', `the node has no deliveries to ${service} any more`)
      const left = state.lag + state.retrying
      total = Math.max(total, left)
      if (left === 0 || interrupted) return report(service, { state, total, began, interrupted, json })
      progress.show(total - left, total, state)
      await new Promise(resolve => setTimeout(resolve, POLL_MS))
    }
  } finally {
    progress.clear()
    process.off('SIGINT', onSignal)
  }
}

interface ReplayReport {
  readonly state: DeliveryState
  readonly total: number
  readonly began: number
  readonly interrupted: boolean
  readonly json: boolean
}

const report = (service: string, { state, total, began, interrupted, json }: ReplayReport): number => {
  const seconds = (performance.now() - began) / 1000
  if (json) printJson({ service, ...state, interrupted })
  else if (interrupted) {
    print(`\nthe replay goes on in the node, ${count(state.lag + state.retrying)} changes are left`)
    print('quoin lookups shows the progress')
  } else {
    const changes = total === 0 ? '' : `, ${plural(total, 'change')}`
    print(`${paint('green', 'caught up')}: ${service}, in ${duration(seconds)}${changes}`)
  }
  if (state.dead > 0 && !json)
    print(`${plural(state.dead, 'change')} given up; the queue notify:${service} has the reasons`)
  return interrupted || state.dead > 0 ? EXIT.no : EXIT.ok
}

const positionOf = ({ from, topic }: ReplayOptions): number => {
  if (from === 'zero') return 0
  if (!/^\d{1,15}$/.test(from))
    throw new QuoinError('ERR_USAGE', `invalid --from ${from}: expected zero or a position`, { from })
  if (topic === undefined && Number(from) > 0) {
    throw new QuoinError(
      'ERR_USAGE',
      '--from with a position needs --topic: each topic has a log of its own',
      {
        from
      }
    )
  }
  return Number(from)
}

const progressLine = (service: string, isShown: boolean) => ({
  show: (done: number, total: number, { status, lastError }: DeliveryState): void => {
    if (!isShown) return
    const reason = status === 'failing' ? `, failing: ${lastError}` : ''
    process.stderr.write(`\r\u001b[K${service}: ${count(done)} of ${count(total)} changes${reason}`)
  },
  clear: (): void => {
    if (isShown) process.stderr.write('\r\u001b[K')
  }
})

const statesOf = async (options: LookupsOptions): Promise<readonly LookupState[]> => {
  const headers = authorization(options)
  try {
    const { data } = await askJson<{ data: LookupState[] }>(options.url, '/admin/lookups', undefined, headers)
    return data
  } catch (error) {
    if (!(error instanceof QuoinError) || error.details['code'] !== 'ERR_ROUTE_NOT_FOUND') throw error
    throw new QuoinError(
      'ERR_NODE_REFUSED',
      `${options.url} has no admin plane: start the node with --admin-token, or QUOIN_ADMIN_TOKEN`,
      { url: options.url }
    )
  }
}

export const authorization = ({
  token = process.env['QUOIN_ADMIN_TOKEN']
}: LookupsOptions): Record<string, string> => {
  if (token) return { authorization: `Bearer ${token}` }
  throw new QuoinError(
    'ERR_USAGE',
    'no admin token: expected --token or QUOIN_ADMIN_TOKEN, the adminToken of the node',
    {}
  )
}
