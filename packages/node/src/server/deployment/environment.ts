/**
 * Environment variables of LARS and CARS that have a counterpart among the settings of a node. They apply to a node that
 * serves a deployment file, below `QUOIN_…` variables and options.
 */
import { parseNetwork } from './deployment-info.ts'

/** A variable, and the setting that it sets, or the reason why it sets none. */
export interface VariableUse {
  readonly variable: string
  readonly setting: string | undefined
  /** The reason of a variable that sets nothing. */
  readonly reason?: string
}

export interface DeploymentEnvironment {
  /** Settings by their key. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly variables: readonly VariableUse[]
}

/** Variables without a counterpart, each with the reason. */
const WITHOUT: Readonly<Record<string, string>> = {
  SERVER_PRIVATE_KEY: 'the node signs nothing',
  HOSTING_URL: 'the node advertises nothing',
  GASP_SYNC: 'peers names the nodes to sync with',
  SYNC_CONFIG_JSON: 'peers names the nodes to sync with',
  SUPPRESS_DEFAULT_SYNC_ADVERTISEMENTS: 'the node advertises nothing',
  ARC_API_KEY: 'the node sends nothing to a transaction processor',
  THROW_ON_BROADCAST_FAIL: 'the node sends nothing to a transaction processor',
  WEB_UI_CONFIG: 'the explorer has no configuration',
  LOG_TIME: 'each line of the log has the time',
  LOG_PREFIX: 'the log is JSON'
}

const KNEX_CLIENTS: Readonly<Record<string, string>> = {
  mysql: 'mysql2',
  mysql2: 'mysql2',
  postgres: 'pg',
  postgresql: 'pg'
}

export const deploymentEnvironment = (
  environment: Readonly<Record<string, string | undefined>>
): DeploymentEnvironment => {
  const settings: Record<string, unknown> = {}
  const variables: VariableUse[] = []
  const take = (variable: string, setting: string, convert: (text: string) => unknown, reason: string) => {
    const text = environment[variable]
    if (!text) return
    const value = convert(text)
    if (value === undefined) variables.push({ variable, setting: undefined, reason })
    else {
      settings[setting] = value
      variables.push({ variable, setting })
    }
  }
  take('MONGO_URL', 'mongo', text => text, '')
  take('KNEX_URL', 'knex', knexOf, 'expected a mysql:// or postgres:// URL')
  take('ADMIN_BEARER_TOKEN', 'adminToken', text => text, '')
  take('NETWORK', 'network', parseNetwork, 'expected main or test')
  const isQuiet = (text: string) => (text === 'false' ? 'warn' : text === 'true' ? 'info' : undefined)
  take('REQUEST_LOGGING', 'logLevel', isQuiet, 'expected true or false')
  for (const [variable, reason] of Object.entries(WITHOUT))
    if (environment[variable]) variables.push({ variable, setting: undefined, reason })
  return { settings, variables }
}

const knexOf = (text: string): unknown => {
  const [, scheme = ''] = /^(\w+):\/\/\S+$/.exec(text) ?? []
  const client = KNEX_CLIENTS[scheme]
  return client && { client, connection: text }
}
