/** The health of the plug-ins of a node. None makes the node unready: every other topic is served without it. */
import type { HostedModuleState, NamedDeliveryState, PluginHost } from '@quoin/overlay'
import type { Part, PartState } from './parts.ts'

/** A process by its topics and lookup services: the health is public, and paths of modules are not. */
export const pluginLabel = ({ names }: HostedModuleState): string => names.join(', ')

/** A part for each process of plug-ins. */
export const pluginParts = (host: Pick<PluginHost, 'states'>): Part[] =>
  host.states().map((state, i) => ({
    name: `plug-in ${pluginLabel(state)}`,
    state: async () => processState(host.states()[i]!)
  }))

const processState = ({ state, since, restarts, lastError: stack }: HostedModuleState): PartState => {
  const lastError = stack?.split('\n')[0]
  if (state === 'running') return { status: 'ok', since, lastError }
  const times = restarts === 1 ? 'once' : `${restarts} times`
  const reason = lastError === undefined ? '' : `: ${lastError}`
  return { status: 'degraded', message: `${state}, restarted ${times}${reason}`, since, lastError }
}

/** The state of the delivery to a lookup service. */
export const deliveryState = (state: NamedDeliveryState): PartState => {
  const message = problemOf(state)
  const { lastSuccess, lastError, lastErrorAt } = state
  return {
    status: message === undefined ? 'ok' : 'degraded',
    message,
    lastSuccess,
    lastError,
    lastErrorAt
  }
}

const problemOf = (state: NamedDeliveryState): string | undefined => {
  const { service, status, lag, retrying, dead, lastError } = state
  if (dead > 0)
    return `${dead === 1 ? '1 change was' : `${dead} changes were`} given up; the dead letters of the queue notify:${service} have the reasons`
  if (status === 'failing') return `failing, ${lag + retrying} changes wait: ${lastError}`
  const reason = lastError === undefined ? '' : `: ${lastError}`
  if (retrying > 0) return `${retrying} failed changes are tried again${reason}`
  if (lag > 0 && lastError !== undefined) return `${lag} changes wait${reason}`
  return undefined
}
