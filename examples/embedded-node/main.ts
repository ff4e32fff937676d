/** A node inside a program: started from settings, asked over HTTP by the clients of `@bsv/sdk`, closed without loss. */
import { HTTPSOverlayBroadcastFacilitator, LookupResolver, Transaction, Utils } from '@bsv/sdk'
import { buildScript, OP, toHex } from '@quoin/primitives'
import { loadConfig, startNode } from 'quoin'
import hello from '../hello-overlay/hello.ts'

const { config } = loadConfig({ options: { store: 'memory:', chain: 'dev', port: '0', logLevel: 'error' } })
const node = await startNode(config, { plugins: [hello] })

const post = async (path: string, body: object): Promise<unknown> => {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(node.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  return response.json()
}

const script = toHex(buildScript([OP.FALSE, OP.RETURN, Buffer.from('Hello, node')]))
const paid = (await post('/dev/fund', { script, satoshis: 1 })) as { beef: string }
const transaction = Transaction.fromAtomicBEEF(Utils.toArray(paid.beef, 'hex'))

const broadcaster = new HTTPSOverlayBroadcastFacilitator(fetch, true)
const steak = await broadcaster.send(node.url, { beef: transaction.toBEEF(), topics: ['tm_greetings'] })
console.log('admitted outputs', steak['tm_greetings']!.outputsToAdmit)

await post('/dev/mine', {})
const resolver = new LookupResolver({ networkPreset: 'local', hostOverrides: { ls_greetings: [node.url] } })
const { outputs } = await resolver.query({ service: 'ls_greetings', query: { text: 'Hello, node' } })
const found = Transaction.fromBEEF(outputs[0]!.beef)
console.log('found it, proved by a block:', await found.verify(node.headers!))

await node.close()
