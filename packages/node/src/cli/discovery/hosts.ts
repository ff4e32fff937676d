/** `quoin hosts`: the health of advertised hosts, a round of checks, and the ban list of a node. */
import type { Ban, HostRecord, JanitorReport } from '@quoin/discovery'
import { EXIT, paint, plural, print, printJson, table } from '@quoin/primitives/command'
import { askJson } from '../node/http.ts'
import { authorization, type LookupsOptions } from '../node/lookups.ts'
import { duration } from '../node/status.ts'

export type HostsOptions = LookupsOptions

type HostState = HostRecord & { readonly isDown: boolean }

const ask = async <T>(options: HostsOptions, path: string, body?: unknown): Promise<T> =>
  (await askJson<{ data: T }>(options.url, `/admin/${path}`, body, authorization(options))).data

export const showHosts = async (options: HostsOptions): Promise<number> => {
  const { hosts } = await ask<{ hosts: HostState[] }>(options, 'hosts')
  const { bans } = await ask<{ bans: Ban[] }>(options, 'bans')
  if (options.json) printJson({ hosts, bans })
  else {
    const rows = [
      ...hosts.map(({ site, isDown, failures, checkedAt, reason = '' }) => [
        site,
        isDown
          ? paint('red', 'down')
          : failures > 0
            ? paint('yellow', `failed ${failures}`)
            : paint('green', 'up'),
        `${duration(Date.now() / 1000 - checkedAt)} ago`,
        reason
      ]),
      ...bans.map(({ value, at, reason = '' }) => [
        value,
        paint('red', 'banned'),
        `${duration(Date.now() / 1000 - at)} ago`,
        reason
      ])
    ]
    print(rows.length === 0 ? 'no host was checked or banned' : table(rows))
  }
  return hosts.some(({ isDown }) => isDown) ? EXIT.no : EXIT.ok
}

export const checkHosts = async (options: HostsOptions): Promise<number> => {
  const report = await ask<JanitorReport>(options, 'janitor', {})
  if (options.json) printJson(report)
  else {
    const { hosts, checked, down, isOffline } = report
    print(`${plural(hosts, 'advertised host')}, ${checked} checked, ${down} down`)
    if (isOffline) print('none answered, and the failures do not count: is this node online?')
  }
  return report.down > 0 || report.isOffline ? EXIT.no : EXIT.ok
}

export interface BanOptions extends HostsOptions {
  readonly reason?: string
}

/** A txid with an index is an advertisement; everything else a host. */
const typeOf = (value: string): Ban['type'] =>
  /^[0-9a-fA-F]{64}[._:i]\d+$/.test(value) ? 'outpoint' : 'domain'

export const banHost = async (value: string, { reason, ...options }: BanOptions): Promise<number> => {
  const banned = await ask<Ban>(options, 'ban', {
    type: typeOf(value),
    value,
    ...(reason !== undefined && { reason })
  })
  if (options.json) printJson(banned)
  else print(`${paint('red', 'banned')}: ${banned.value}`)
  return EXIT.ok
}

export const unbanHost = async (value: string, options: HostsOptions): Promise<number> => {
  const result = await ask<{ lifted: boolean }>(options, 'unban', { type: typeOf(value), value })
  if (options.json) printJson(result)
  else print(result.lifted ? `the ban of ${value} is lifted` : `${value} was not banned`)
  return result.lifted ? EXIT.ok : EXIT.no
}
