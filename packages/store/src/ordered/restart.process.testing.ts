/** A process that opens a store, writes a sorted set and a wide hash of its own, and prints what all of them hold. */
import { existsSync } from 'node:fs'
import { bytes } from '../../../store-contract/src/steps.ts'
import { openStore } from '../store.ts'

const [url = '', own = '', ...all] = process.argv.slice(2)
const FIELDS = 300
const text = (value: Uint8Array): string => new TextDecoder().decode(value)

const store = await openStore(url)
const batch = store.batch().zadd(bytes(own), { member: bytes(`member of ${own}`), score: 1 })
for (let i = 0; i < FIELDS; i++) batch.hset(bytes(own), bytes(`${i}`), bytes(own))
await batch.commit()
const found = all.map(async name => {
  const members = (await store.zrange(bytes(name))).map(({ member }) => text(member))
  const values = new Set((await store.hgetall(bytes(name))).map(({ value }) => text(value)))
  return [name, { members, cardinality: await store.zcard(bytes(name)), values: [...values] }] as const
})
const hasBootId = existsSync('/proc/sys/kernel/random/boot_id')
process.stdout.write(JSON.stringify({ hasBootId, found: Object.fromEntries(await Promise.all(found)) }))
await store.close()
