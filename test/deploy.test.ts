/**
 * The files of `deploy/` against a running node: alerts and the dashboard ask for metrics that it has, and proxies pass
 * streams, addresses and the explorer on. `npm run test:deploy` also runs every command of docs/operate/deploy.md and
 * asks nginx, Caddy, promtool, systemd and Chromium.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { DevChain } from '@quoin/dev-chain'
import { SILENT } from '@quoin/overlay'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { openBrowser, openPage } from '../apps/explorer/test/browser.testing.ts'
import { oneSat, serve } from '../packages/chain/src/headers/services.testing.ts'
import { loadConfig } from '../packages/node/src/server/config.ts'
import { type Node, startNode } from '../packages/node/src/server/node.ts'
import { DeployRoot, freePort, type Ports } from './deploy.testing.ts'
import { blocksOf, brokenLinks } from './docs.testing.ts'
import { ROOT } from './node.testing.ts'

const isWhole = process.env['QUOIN_DEPLOY'] === 'all'
const file = (name: string): string => readFileSync(join(ROOT, 'deploy', name), 'utf8')
const PAGE = 'docs/operate/deploy.md'

const ports = async (node?: number): Promise<Ports> => ({
  node: node ?? (await freePort()),
  http: await freePort(),
  https: await freePort()
})

let node: Node
beforeAll(async () => {
  const base = { store: 'memory:', port: '0', blockTime: '0' }
  const peer = 'http://127.0.0.1:9'
  const options = {
    ...base,
    peers: `tm_kvstore=${peer}`,
    'bsv21.peers': peer,
    trustProxy: '127.0.0.1',
    backups: './none'
  }
  node = await startNode(
    loadConfig({ options: { ...options, 'limits.burst': '500', 'limits.rate': '1' } }).config,
    {
      logger: SILENT
    }
  )
})
afterAll(() => node.close())

/** The names of metrics in an expression of Prometheus. */
const metricsOf = (expression: string): string[] =>
  [...expression.matchAll(/\b(?:quoin|process|nodejs)_[a-z0-9_]+/g)].map(([name]) =>
    name.replace(/_(bucket|count|sum)$/, '')
  )

describe('monitoring', () => {
  it('asks for metrics that a node has', async () => {
    const answer = await (await fetch(`${node.url}/metrics`)).text()
    const known = new Set([...answer.matchAll(/^# HELP (\S+)/gm)].map(([, name]) => name!))
    const { groups } = parse(file('alerts.yaml')) as { groups: { rules: { expr: string }[] }[] }
    const { panels } = JSON.parse(file('grafana.json')) as {
      panels: { title: string; targets: { expr: string }[] }[]
    }
    const asked = [
      ...groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
      ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
    ].flatMap(metricsOf)
    expect(asked.length).toBeGreaterThan(25)
    // Plug-ins in processes have metrics where there are any.
    expect(asked.filter(name => !known.has(name) && !name.startsWith('quoin_plugin_'))).toEqual([])
  })

  it('has a dashboard without two panels of one place', () => {
    const { panels } = JSON.parse(file('grafana.json')) as { panels: { id: number; gridPos: object }[] }
    expect(new Set(panels.map(({ gridPos }) => JSON.stringify(gridPos))).size).toBe(panels.length)
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  })
})

describe('the container', () => {
  it('runs without privileges, has a health check, and the command of the node', () => {
    const dockerfile = file('Dockerfile')
    const [, last = ''] = dockerfile.split(/^FROM .*(?<!AS build)$/m)
    expect(last).toMatch(/^USER quoin$/m)
    expect(last).toMatch(/^HEALTHCHECK .*\/health\/live/m)
    expect(last).toMatch(/^ENTRYPOINT \["quoin"\]\nCMD \["serve"\]$/m)
    const variables = Object.fromEntries(
      [...last.matchAll(/(QUOIN_\w+)=(\S+)/g)].map(([, name, value]) => [name!, value!])
    )
    expect(loadConfig({ environment: variables }).config).toMatchObject({
      host: '0.0.0.0',
      store: 'lmdb:/data/store'
    })
    expect(statSync(join(ROOT, 'deploy/install.sh')).mode & 0o111).not.toBe(0)
  })

  it.each([['compose.yaml'], ['compose.postgres.yaml']])('%s has settings that a node takes', name => {
    const { services } = parse(file(name), { merge: true }) as {
      services: Record<string, { environment?: Record<string, string> }>
    }
    const given: Readonly<Record<string, string>> = {
      CHAIN: 'headers:https://headers.example',
      QUOIN_ADMIN_TOKEN: 'correct-horse-battery-staple',
      POSTGRES_PASSWORD: 'secret'
    }
    const filled = (text: string): string =>
      text.replaceAll(
        /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
        (_, key: string, kind: string, value: string) => given[key] ?? (kind === '-' ? value : '')
      )
    let checked = 0
    for (const service of ['quoin', 'sources']) {
      const { environment } = services[service] ?? {}
      if (!environment) continue
      const variables = Object.entries(environment).map(([key, value]) => [key, filled(String(value))])
      expect(loadConfig({ environment: Object.fromEntries(variables) }).config.chain).toBe(given['CHAIN'])
      checked++
    }
    expect(checked).toBeGreaterThan(0)
  })
})

describe('the page', () => {
  it('links to files that exist', () => {
    expect(brokenLinks(PAGE)).toEqual([])
  })
})

describe.runIf(isWhole)('with the programs of Debian', { timeout: 900_000 }, () => {
  const succeeds = (command: string, ...args: readonly string[]): void => {
    const { status, stdout, stderr, error } = spawnSync(command, args, {
      cwd: join(ROOT, 'deploy'),
      encoding: 'utf8'
    })
    expect({ status, error }, `${command}: ${stdout}\n${stderr}`).toEqual({ status: 0, error: undefined })
  }

  it('promtool takes the alerts, and they fire when they should', () => {
    succeeds('promtool', 'check', 'rules', 'alerts.yaml')
    succeeds('promtool', 'test', 'rules', 'alerts.test.yaml')
  })

  it('Caddy takes its file', () => {
    succeeds('caddy', 'validate', '--config', 'Caddyfile', '--adapter', 'caddyfile')
  })

  describe('nginx', () => {
    let root: DeployRoot
    beforeAll(async () => {
      root = new DeployRoot(await ports(node.port))
      const locations = file('nginx-sub-path.conf')
      const live = '/etc/letsencrypt/live/127.0.0.1'
      await root.nginx(`server {
        listen 443 ssl;
        ssl_certificate ${live}/fullchain.pem;
        ssl_certificate_key ${live}/privkey.pem;
        ${locations}
      }`)
    })
    afterAll(() => root.close())

    /** Not from the address of the proxy, which is trusted. */
    const get = (path: string, headers: Readonly<Record<string, string>> = {}, localAddress = '127.0.0.2') =>
      new Promise<{ status: number; text: string; ip?: string }>((resolve, reject) => {
        const ca = readFileSync(root.certificate)
        const asked = request(
          { host: '127.0.0.1', port: root.ports.https, path, ca, headers, localAddress },
          answer => {
            let text = ''
            answer.on('data', data => {
              text += data
              // A stream does not end.
              if (answer.headers['content-type']?.startsWith('text/event-stream')) {
                resolve({ status: answer.statusCode!, text })
                asked.destroy()
              }
            })
            answer.on('end', () => resolve({ status: answer.statusCode!, text }))
          }
        )
        asked.on('error', reject)
        asked.end()
      })

    it('passes the interface on under the path, and keeps the operator routes for this machine', async () => {
      expect(JSON.parse((await get('/quoin/health/ready')).text)).toMatchObject({ ready: true })
      expect((await get('/quoin')).status).toBe(301)
      for (const path of ['/quoin/metrics', '/quoin/admin/topics']) expect((await get(path)).status).toBe(403)
    })

    it('sends the events of a live stream at once', async () => {
      const event = get('/quoin/live?after=0', { accept: 'text/event-stream' })
      await fetch(`${node.url}/dev/fund`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ script: '51', satoshis: 1000 })
      })
      expect((await event).status).toBe(200)
    })

    it('lets the node count each client by itself, and a client that lies by the address that nginx saw', async () => {
      const statuses = async (count: number, headers: Readonly<Record<string, string>>) => {
        const found: number[] = []
        for (let i = 0; i < count; i++) found.push((await get('/quoin/health/live', headers)).status)
        return found
      }
      const limited = await statuses(700, { 'x-forwarded-for': '9.9.9.9' })
      expect(limited).toContain(429)
      const others: number[] = []
      for (let i = 0; i < 20; i++)
        others.push((await get('/quoin/health/live', { 'x-forwarded-for': `8.8.8.${i}` })).status)
      expect(others).toContain(429)
      expect((await get('/quoin/health/live', {}, '127.0.0.3')).status).toBe(200)
      expect((await fetch(`${node.url}/health/live`)).status).toBe(200)
    })
  })

  describe('the explorer', () => {
    it('works in Chromium under a path', async () => {
      const other = await startNode(
        loadConfig({ options: { store: 'memory:', port: '0', blockTime: '0', trustProxy: 'loopback' } })
          .config,
        { logger: SILENT }
      )
      const root = new DeployRoot(await ports(other.port))
      const browser = await openBrowser()
      try {
        const live = '/etc/letsencrypt/live/127.0.0.1'
        await root.nginx(`server { listen 443 ssl; ssl_certificate ${live}/fullchain.pem; ssl_certificate_key ${live}/privkey.pem;
          ${file('nginx-sub-path.conf')} }`)
        const funded = await fetch(`${other.url}/dev/fund`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ script: '51', satoshis: 1000 })
        })
        expect(funded.status).toBe(200)
        const origin = `https://127.0.0.1:${root.ports.https}`
        const { page, troubles } = await openPage(browser, `${origin}/quoin`, { ignoreHTTPSErrors: true })
        await page.goto(`${origin}/quoin/`)
        await page.getByText('Live', { exact: false }).first().waitFor()
        for (const name of ['Tokens', 'Key-value', 'Keys', 'Playground', 'Operator', 'Home']) {
          await page.getByRole('link', { name, exact: true }).click()
          await page.locator('h1').first().waitFor()
          expect(new URL(page.url()).pathname.startsWith('/quoin/')).toBe(true)
        }
        // A view two levels down, loaded by its address.
        await page.goto(`${origin}/quoin/explore/tx/${'00'.repeat(32)}`)
        await page.locator('h1').first().waitFor()
        await page.goto(`${origin}/quoin/docs`)
        await page.getByRole('link', { name: '/openapi.json' }).click()
        expect(new URL(page.url()).pathname).toBe('/quoin/openapi.json')
        expect(troubles).toEqual([])
      } finally {
        await browser.close()
        await root.close()
        await other.close()
      }
    })
  })

  it('the commands of the page lead to a running, monitored node', async () => {
    const chain = new DevChain()
    chain.mine()
    const headers = await serve(oneSat(chain))
    const root = new DeployRoot(await ports())
    try {
      const names = [
        'quoin.service',
        'quoin-backup.service',
        'quoin-backup.timer',
        'nginx.conf',
        'nginx-proxy.conf',
        'prometheus.yaml',
        'alerts.yaml'
      ]
      const source = root.deployFolder(names)
      const variables = {
        HEADERS_URL: headers.url,
        NODE_NAME: '127.0.0.1',
        NODE_EXTRA_CA_CERTS: root.certificate
      }
      const outputs: string[] = []
      for (const { language, code } of blocksOf(PAGE)) {
        if (language !== 'sh') continue
        const script = root
          .moved(code)
          .replace('quoin init mainnet', `quoin init mainnet --port ${root.ports.node} --network regtest`)
          .replace('quoin status', `quoin status --url http://127.0.0.1:${root.ports.node}`)
          .replaceAll('https://$NODE_NAME', `https://$NODE_NAME:${root.ports.https}`)
        outputs.push(await root.run(script, source, variables))
      }
      const said = outputs.join('\n')
      expect(said).toContain('next: quoin serve')
      expect(said).toMatch(/at http:\/\/127\.0\.0\.1:\d+: ready/)
      expect(said).toMatch(/ok +address https:\/\/127\.0\.0\.1:\d+: answers/)
      expect(said).toMatch(/ok +backups: the newest is first/)
      expect(said).toMatch(/SUCCESS: .*prometheus\.yml is valid/)
      expect(root.calls).toContain('systemctl enable --now quoin.service quoin-backup.timer')
      expect(
        root.log
          .split('\n')
          .filter(line => line !== '' && !line.startsWith('{') && !/^(quoin is| {2}|Ctrl-C)/.test(line))
      ).toEqual([])
      const unit = spawnSync(
        'systemd-analyze',
        ['verify', ...names.slice(0, 3).map(name => join(root.folder, 'etc/systemd/system', name))],
        { encoding: 'utf8' }
      )
      expect([unit.status, unit.stderr]).toEqual([0, ''])
    } finally {
      await root.close()
      await headers.close()
    }
  })
})
