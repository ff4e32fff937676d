/** Which server of a cluster has which slots, as a server tells it. */
import { QuoinError } from '../../keyspace/index.ts'
import type { Server } from './connection.ts'
import type { Node } from './node.ts'
import { type Reply, ReplyError } from './resp.ts'

const text = (reply: Reply | undefined): string =>
  reply instanceof Uint8Array ? new TextDecoder().decode(reply) : typeof reply === 'string' ? reply : ''

/** The masters of the slots; undefined where a slot has none. */
export const ownersOf = async (node: Node, slots: readonly number[]): Promise<(Server | undefined)[]> => {
  const reply = await node.ask(['CLUSTER', 'SLOTS'])
  if (reply instanceof ReplyError) {
    if (reply.message.includes('cluster support disabled')) {
      throw new QuoinError(
        'ERR_STORE_URL',
        `${node.address} is a single Redis server and no cluster: use redis://${node.address}`
      )
    }
    throw new QuoinError('ERR_STORE_CONNECTION', `${node.address} does not tell its slots: ${reply.message}`)
  }
  const asked = node.address.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
  const owners: (Server | undefined)[] = slots.map(() => undefined)
  for (const range of reply as Reply[]) {
    const [first, last, master] = range as [number, number, Reply[]]
    // A server that does not know its own name leaves it out, or says `?`: it is where it was asked.
    const name = text(master[0])
    const server = { host: name === '' || name === '?' ? asked : name, port: Number(master[1]) }
    slots.forEach((slot, partition) => {
      if (slot >= first && slot <= last) owners[partition] = server
    })
  }
  return owners
}
