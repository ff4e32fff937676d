/**
 * `quoin demo`: the main job in one line. A node on a store of its own with a development chain; messages are written to
 * it over HTTP with real signatures, mined, changed, and looked up with the SDK's own client; and a BSV21 token is issued.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EXIT, milliseconds, paint, print, printJson, table } from '@quoin/primitives/command'
import type { Node } from '../../server/index.ts'
import { Author, type Message } from './author.ts'
import { askJson } from './http.ts'
import { Minter } from './minter.ts'
import { server } from './settings.ts'
import { signals, untilEnded } from './shutdown-signals.ts'

export interface DemoOptions {
  readonly exit?: boolean
  readonly store?: string
  readonly port?: string
  readonly json?: boolean
}

/** A claim that the demo verified, or refuted. */
interface Check {
  readonly name: string
  readonly holds: boolean
  readonly detail: string
}

export const demo = async ({ exit = false, store, port, json = false }: DemoOptions): Promise<number> => {
  const ending = signals()
  const folder = store === undefined ? await mkdtemp(join(tmpdir(), 'quoin-demo-')) : undefined
  const say = json ? () => undefined : print
  try {
    const node = await start(store ?? `lmdb:${folder}`, port ?? (exit ? '0' : undefined))
    try {
      say(`${paint('bold', 'quoin')} is listening on ${paint('cyan', node.url)}`)
      say(`  store    ${store ?? `lmdb:${folder}, deleted at the end`}`)
      say('  chain    a development chain of its own\n')
      const began = performance.now()
      const author = new Author(node.url)
      const messages = await write(author, say)
      const token = await issue(new Minter(node.url), say)
      const checks = [...(await check(node, author, messages)), ...(await checkToken(node.url, token))]
      for (const { name, holds, detail } of checks) {
        say(`  ${holds ? paint('green', 'right') : paint('red', 'WRONG')}    ${name}: ${detail}`)
      }
      const right = checks.every(({ holds }) => holds)
      const took = performance.now() - began
      say(`\n${right ? 'everything is right' : paint('red', 'something is wrong')}, in ${milliseconds(took)}`)
      if (json) printJson({ url: node.url, right, milliseconds: Math.round(took), checks })
      if (!exit) {
        say(`\n${links(node.url, author.address, token)}\n\nCtrl-C ends it.`)
        await untilEnded(node, ending)
      }
      return right ? EXIT.ok : EXIT.no
    } finally {
      await node.close()
    }
  } finally {
    ending.end()
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  }
}

/** On port 8080, where clients look for a local node, or on another one when a program has that already. */
const start = async (store: string, port: string | undefined): Promise<Node> => {
  const { loadConfig, startNode } = await server()
  const { hello } = await import('./hello.ts')
  const started = (at: string) => {
    const options = { store, chain: 'dev', port: at, logLevel: 'warn', 'bsv21.activation': 'all' }
    return startNode(loadConfig({ options }).config, { plugins: [hello] })
  }
  if (port !== undefined) return started(port)
  try {
    return await started('8080')
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes('another program has it')) throw error
    return started('0')
  }
}

const write = async (author: Author, say: (text: string) => void): Promise<readonly Message[]> => {
  const step = (what: string, detail: string): void => say(`  ${paint('dim', what.padEnd(7))}  ${detail}`)
  await author.fund(10_000)
  step('paid', `10,000 satoshis to ${author.address}`)
  const messages: Message[] = []
  for (const text of ['Hello, world', 'Hello, Quoin', 'A typo, to be corected']) {
    const message = await author.say(text)
    messages.push(message)
    step('wrote', `"${text}"  ${message.outpoint}`)
  }
  step('mined', `block ${await author.mine()}`)
  const corrected = await author.replace(messages.pop()!, 'A typo, corrected')
  messages.push(corrected)
  step('changed', `"${corrected.text}"  ${corrected.outpoint}`)
  step('mined', `block ${await author.mine()}`)
  return messages
}

const check = async (node: Node, author: Author, messages: readonly Message[]): Promise<Check[]> => {
  const { verifyIndex } = await import('@quoin/txo')
  const expected = messages.map(({ text }) => text).sort()
  const found = await author.lookup({}, node.headers!)
  const texts = found.map(({ text }) => text).sort()
  const [first] = expected
  const one = await author.lookup({ message: first }, node.headers!)
  const balance = await author.balance()
  const { events } = node.engine.outputs
  const { tokenLedger } = await import('@quoin/bsv21')
  const { transactions, differences } = await verifyIndex(node.store, { events, ledger: tokenLedger })
  const isSame = (a: readonly string[], b: readonly string[]): boolean =>
    JSON.stringify(a) === JSON.stringify(b)
  return [
    {
      name: 'lookup with the SDK',
      holds: expected.every(text => texts.includes(text)) && !texts.includes('A typo, to be corected'),
      detail: `${found.length} messages, the one that was changed is not among them`
    },
    {
      name: 'proofs',
      holds: found.every(({ verified }) => verified),
      detail: `the SDK verified ${found.filter(({ verified }) => verified).length} of ${found.length}`
    },
    {
      name: 'lookup by text',
      holds: one.length > 0 && isSame([...new Set(one.map(({ text }) => text))], [first!]),
      detail: `${one.length} found for "${first}"`
    },
    {
      name: 'balance',
      holds: balance === author.balanceExpected,
      detail: `${balance} satoshis of ${author.balanceExpected}`
    },
    {
      name: 'index',
      holds: differences.length === 0,
      detail: `rebuilt from ${transactions} transactions, ${differences.length} differences`
    }
  ]
}

/** Deploys a token, mints, transfers, burns and lists it. Returns the token id. */
const issue = async (minter: Minter, say: (text: string) => void): Promise<string> => {
  const step = (what: string, detail: string): void => say(`  ${paint('dim', what.padEnd(7))}  ${detail}`)
  await minter.fund(10_000)
  await minter.deploy('DEMO', 2)
  step('token', `DEMO, to be minted by ${minter.address}  ${minter.id}`)
  await minter.mint(100_000)
  step('minted', '1,000.00 DEMO')
  await minter.spend(
    { [Minter.someone()]: 25_000, [Minter.someone()]: 10_000 },
    5000,
    { amount: 10_000, price: 777 },
    50_000
  )
  step('moved', '250.00 and 100.00 given away, 50.00 burned, 100.00 offered for 777 satoshis')
  return minter.id
}

const checkToken = async (url: string, id: string): Promise<Check[]> => {
  const path = `/1sat/bsv21/${id}`
  const supply = await askJson<Record<string, unknown>>(url, `${path}/supply`)
  const { holders } = await askJson<{ holders: { amount: string }[] }>(url, `${path}/holders`)
  const expected = { minted: '100000', supply: '95000', burned: '5000', listed: '10000', holders: 3 }
  return [
    {
      name: 'token',
      holds: Object.entries(expected).every(([name, value]) => supply[name] === value),
      detail: 'what was minted, what there is, what was burned and what is for sale'
    },
    {
      name: 'holders',
      holds: holders.map(({ amount }) => amount).join() === '60000,25000,10000',
      detail: `${holders.length}, the richest first`
    }
  ]
}

const links = (url: string, address: string, token: string): string =>
  `Open:\n${table([
    [`  ${url}`, 'a page of all of it, for browsers'],
    [`  ${url}/status`, 'what the node has'],
    [`  ${url}/txo/balance?events=own:${address}`, 'what the author has'],
    [`  ${url}/txo/unspent?events=tp:tm_hello`, 'the messages, as outputs'],
    [`  ${url}/1sat/bsv21/${token}/holders`, 'who has the token'],
    [`  ${url}/docs`, 'every route, and what it takes'],
    [`  ${url}/metrics`, 'for Prometheus']
  ])}
Try:
  quoin lookup ls_hello '{}' --url ${url}
  quoin token ${token} --url ${url}
  quoin kv set name Ty --url ${url}
  quoin status --url ${url}
  curl -X POST ${url}/dev/mine`
