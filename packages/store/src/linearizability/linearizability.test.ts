/**
 * Histories of reads and batches by several processes on one server, some of which are killed, as is the server: all are
 * linearizable. QUOIN_HISTORIES says how many; `npm run test:linearizability` plays 2,000 on each server.
 */
import { expect, it } from 'vitest'
import { newRandom, type Random } from '../../../../test/faults/random.ts'
import { type PostgresServer, startPair, startPostgres } from '../postgres/server.testing.ts'
import { type RedisServer, startRedis } from '../redis/server.testing.ts'
import { type Call, checkHistory } from './checker.testing.ts'
import { ClientProcess } from './processes.testing.ts'
import { randomRequests } from './random-requests.testing.ts'
import { type Request, type Response, storeSpecification } from './store-specification.testing.ts'

const HISTORIES = Number(process.env['QUOIN_HISTORIES'] ?? 6)
const SEED = Number(process.env['QUOIN_SEED'])
const PROCESSES = 3
/** Clients of a process, whose batches share transactions, and the requests of each. */
const CLIENTS = 3
const REQUESTS = 6
/** A kill of a process and one of the server in so many histories. */
const KILLED = 6

interface Server {
  readonly url: string
  /** Ends the server without warning, and resolves when there is one again. */
  kill(): Promise<void>
  stop(): Promise<void>
}

const restarted = (server: PostgresServer | RedisServer): Server => ({
  url: server.url,
  kill: () => server.restart(),
  stop: () => server.stop()
})

/** The first kill is the end of the primary. */
const startPromoted = async (): Promise<Server> => {
  const pair = await startPair()
  let isPromoted = false
  return {
    url: pair.url,
    stop: pair.stop,
    async kill() {
      if (isPromoted) return pair.standby.restart()
      isPromoted = true
      await pair.primary.kill()
      await pair.standby.promote()
    }
  }
}

/** PostgreSQL passes over items that another transaction has locked. */
const ENGINES = {
  redis: {
    start: async () => restarted(await startRedis({ appendonly: true, appendfsync: 'always' })),
    leases: 'all'
  },
  postgres: { start: async () => restarted(await startPostgres()), leases: 'some' },
  'postgres with a synchronous standby': { start: startPromoted, leases: 'some' }
} as const

const shown = (call: Call<Request, Response>): string =>
  `${call.client} ${call.invoked}–${call.reply?.at ?? '?'} ${JSON.stringify(call.request)} → ${JSON.stringify(call.reply?.response)}`

/** At a random call of a history, or never. */
const atCall = (random: Random, isDue: boolean, act: () => void): ((count: number) => void) => {
  const at = 1 + random.below(CLIENTS * REQUESTS)
  return count => {
    if (isDue && count === at) act()
  }
}

it.each(Object.entries(ENGINES))(
  `%s: ${HISTORIES} histories of ${PROCESSES} processes are linearizable through kills`,
  async (_, { start, leases }) => {
    const server = await start()
    const processes = await Promise.all(
      Array.from({ length: PROCESSES }, () => ClientProcess.start(server.url))
    )
    const specification = storeSpecification(leases)
    const random = newRandom(SEED)
    let [calls, unknown] = [0, 0]
    try {
      for (let n = 0; n < HISTORIES; n++) {
        const doomed = n % KILLED === 1 ? random.below(PROCESSES) : undefined
        const isServerKilled = n % KILLED === 3
        let again: Promise<void> | undefined
        const parts = processes.map((client, i) => {
          const name = `${'abc'[i]}`
          const requests = Array.from({ length: CLIENTS }, (_, c) =>
            randomRequests(random, `${n}`, `${name}${c}`, REQUESTS)
          )
          const onClientKill = atCall(random, i === doomed, () => void client.kill())
          const onServerKill = atCall(random, isServerKilled && i === 0, () => {
            again = server.kill()
          })
          return client.run(name, requests, count => {
            onClientKill(count)
            onServerKill(count)
          })
        })
        const history = (await Promise.all(parts)).flat()
        await again
        if (doomed !== undefined) processes[doomed] = await ClientProcess.start(server.url)
        calls += history.length
        unknown += history.filter(({ reply }) => !reply).length
        const { isLinearizable, order, stuck } = checkHistory(history, specification)
        expect(
          isLinearizable,
          `history ${n} of seed ${SEED}:\n${order.map(shown).join('\n')}\n\nthen none of:\n${stuck.map(shown).join('\n')}`
        ).toBe(true)
      }
      expect(calls).toBeGreaterThan(HISTORIES * PROCESSES * CLIENTS * REQUESTS * 0.8)
      if (HISTORIES >= 100) expect(unknown).toBeGreaterThan(0)
    } finally {
      await Promise.all(processes.map(client => client.kill()))
      await server.stop()
    }
  },
  120_000 + HISTORIES * 2000
)
