/** A cluster for the tests of a file, emptied before each of them. */
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { bytes } from '../contract/steps.ts'
import { Subject } from '../contract/subject.ts'
import { openRedis, type RedisOptions } from './redis.ts'
import { type RedisCluster, type RedisServer, startCluster } from './server.testing.ts'
import { partitionOf, slotOf, tagsOf } from './slots.ts'

/** A key in the partition. */
export const keyIn = (partition: number): string => {
  for (let i = 0; ; i++) if (partitionOf(bytes(`k${i}`), 16) === partition) return `k${i}`
}

/** A key in each partition. */
export const EVERYWHERE: readonly string[] = Array.from({ length: 16 }, (_, partition) => keyIn(partition))

export class ClusterFixture {
  #cluster: RedisCluster | undefined

  constructor() {
    beforeAll(async () => {
      this.#cluster = await startCluster({ appendonly: true, appendfsync: 'always' })
    })
    afterAll(() => this.#cluster?.stop())
    beforeEach(async () => {
      for (const node of this.cluster.nodes) await node.command('FLUSHALL')
    })
  }

  get cluster(): RedisCluster {
    return this.#cluster!
  }

  async open(options?: RedisOptions): Promise<Subject> {
    return new Subject(await openRedis(this.cluster.url, options))
  }

  async using(use: (store: Subject) => Promise<void>): Promise<void> {
    const store = await this.open()
    try {
      await use(store)
    } finally {
      await store.engine.close()
    }
  }

  /** The server of a hash tag: the others answer MOVED. */
  async ownerOf(tag: string): Promise<RedisServer> {
    for (const node of this.cluster.nodes) {
      const answer = await node.command('EXISTS', `{${tag}}`).catch(() => null)
      if (answer !== null) return node
    }
    throw new Error(`no server has slot ${slotOf(tag)}`)
  }

  /** How many entries the journals hold, all together. */
  async journaled(): Promise<number> {
    let sum = 0
    for (const tag of tagsOf(16)) {
      sum += Number(await (await this.ownerOf(tag)).command('HLEN', `{${tag}}j`))
    }
    return sum
  }
}
