/** A process that writes to the store in a directory until it is killed, and says when it has begun. */
import { batchOf, set } from '../contract/steps.ts'
import { openLmdb } from './lmdb.ts'

const [path = ''] = process.argv.slice(2)
const engine = await openLmdb(path)
for (let n = 0; ; n++) {
  await engine.commit(batchOf([set('a', String(n))]))
  if (n === 0) process.stdout.write('written\n')
  await new Promise(resolve => setTimeout(resolve, 50))
}
