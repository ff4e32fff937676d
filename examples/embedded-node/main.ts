/** A node inside a program: started from settings, asked over HTTP like any node, followed without HTTP. */
import { PrivateKey, Utils } from '@bsv/sdk'
import { loadConfig, startNode } from 'quoin'

const { config } = loadConfig({ options: { store: 'memory:', chain: 'dev', port: '0', logLevel: 'error' } })
const node = await startNode(config)
const address = PrivateKey.fromRandom().toAddress()

const request = async <T>(path: string, options: RequestInit = {}): Promise<T> => {
  const response = await fetch(node.url + path, options)
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as T
}

/** Prints the changes of outputs of the address, until a block has them. */
const follow = async (): Promise<void> => {
  for await (const { kind } of node.engine.outputs.follow({ after: 0, events: [`own:${address}`] })) {
    console.log('change:', kind)
    if (kind === 'moved') return
  }
}
const followed = follow()

const { beef } = await request<{ beef: string }>('/dev/fund', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ address, satoshis: 1000 })
})
await request('/submit', {
  method: 'POST',
  headers: { 'x-topics': '["tm_kvstore"]' },
  body: Uint8Array.from(Utils.toArray(beef, 'hex'))
})
await request('/dev/mine', { method: 'POST' })
await followed
console.log('balance:', await request(`/txo/balance?events=own:${address}`))

await node.close()
