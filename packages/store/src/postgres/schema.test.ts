/** Processes that open a new store at the same time. */
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Query } from './client.ts'
import { openPostgres } from './postgres.ts'
import { openSchema } from './schema.ts'
import { sharedPostgres } from './server.testing.ts'

let url: string
let client: pg.Client
beforeAll(async () => {
  ;({ url } = await sharedPostgres())
  client = new pg.Client(url)
  await client.connect()
})
afterAll(() => client?.end())

it('takes the tables that another process has made between the two looks at them', async () => {
  const schema = `raced_${process.pid}`
  let isMade = false
  const query: Query = async (text, values = []) => {
    if (text.includes('information_schema') && !isMade) {
      isMade = true
      await (await openPostgres(`${url}?schema=${schema}`)).close()
    }
    const { rows } = await client.query({ text, values: [...values], rowMode: 'array' })
    return rows
  }
  await openSchema(query, schema)
  expect(isMade).toBe(true)
})

it('is opened by many processes at once', async () => {
  for (let round = 0; round < 3; round++) {
    const schema = `many_${process.pid}_${round}`
    const engines = await Promise.all(
      Array.from({ length: 6 }, () => openPostgres(`${url}?schema=${schema}`))
    )
    await Promise.all(engines.map(engine => engine.close()))
  }
})
