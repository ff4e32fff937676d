/** The key layout of a chat: declared and proved, written to LevelDB, read by the scans that the proof covers. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { collection, escaped, keyspace, text, u64 } from '@quoin/keyspace'
import { ClassicLevel } from 'classic-level'

const chat = keyspace('chat', {
  messages: collection({
    key: ['m:', escaped('room'), ':', u64('time')],
    scans: [{ prefix: ['room'], order: 'value' }]
  }),
  members: collection({ key: ['u:', escaped('room'), ':', escaped('user')], scans: [['room']] })
})
const { messages, members } = chat.collections

const directory = await mkdtemp(join(tmpdir(), 'own-keyspace-'))
const db = new ClassicLevel<Uint8Array, string>(directory, { keyEncoding: 'view', valueEncoding: 'utf8' })
await db.batch([
  { type: 'put', key: messages.encode('a', 2n), value: 'second' },
  { type: 'put', key: messages.encode('a', 1n), value: 'first' },
  { type: 'put', key: messages.encode('a:b', 1n), value: 'in another room' },
  { type: 'put', key: members.encode('a', 'alice'), value: '' }
])

const { start, end } = messages.range(['a'], { gte: [1n] })
for await (const [key, value] of db.iterator({ gte: start, lt: end! }))
  console.log(messages.decode(key), value)
await db.close()
await rm(directory, { recursive: true })

try {
  keyspace('careless', { messages: collection({ key: ['m:', text('room'), ':', text('user')] }) })
} catch (error) {
  console.log((error as Error).message)
}
