/** The queries of the README, on rows as a node writes them. */
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { expect, it } from 'vitest'
import { bury, enqueue, hset, lease, zadd } from '../../../store-contract/src/steps.ts'
import { Subject } from '../../../store-contract/src/subject.ts'
import { openPostgres } from './postgres.ts'
import { emptyTables, sharedPostgres } from './server.testing.ts'

const TOKEN = 'f5d5ae31e4b2a4a4a64b5a10bbbcfbfb7e1a0c1e4fbde2ba8b0a5bfe9a1d0a11_0'

it('answers the questions that the README asks', async () => {
  const { url } = await sharedPostgres()
  const engine = await openPostgres(url)
  const client = new pg.Client(url)
  await client.connect()
  try {
    await emptyTables(url)
    const store = new Subject(engine)
    await store.commit(
      zadd('z:balance:satoshis', 'own:1BoatSLRHtKNngkdXEeobR76b53LETtpyT', 1234),
      zadd(`z:p2pkh:alice:${TOKEN}`, 'one', 1),
      zadd(`z:p2pkh:alice:${TOKEN}`, 'two', 1),
      zadd(`z:p2pkh:bob:${TOKEN}`, 'three', 1),
      zadd(`z:p2pkh:carol:${TOKEN}`, 'spent', 1),
      zadd(`z:p2pkh:carol:${TOKEN}:spnd`, 'spent', 1),
      hset('h:spnd', 'spent', 'by'),
      zadd('z:p2pkh:alice:another_0', 'four', 1),
      enqueue('q', 'dead', 1, 1),
      enqueue('q', 'due', 9, 9),
      lease('q', 'tokentok', 1, 100, 9, 2),
      bury('q', 'dead', 'class', 'why', 3)
    )
    const text = readFileSync(new URL('./README.md', import.meta.url), 'utf8')
    const queries = [...text.matchAll(/```sql\n(.*?)```/gs)].map(([, sql]) => sql!)
    const answers = []
    for (const sql of queries) answers.push((await client.query(sql)).rows)
    expect(answers).toEqual([
      [{ satoshis: 1234 }],
      [
        { holder: 'alice', outputs: '2' },
        { holder: 'bob', outputs: '1' }
      ],
      [
        { queue: 'q', state: 'dead', reason: 'why', count: '1' },
        { queue: 'q', state: 'due', reason: '', count: '1' }
      ]
    ])
  } finally {
    await client.end()
    await engine.close()
  }
})
