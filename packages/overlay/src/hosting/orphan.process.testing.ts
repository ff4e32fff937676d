/** A node that hosts a plug-in and prints the number of its process, for the test that kills the node. */
import { fixture, hostOf, tell } from './hosting.testing.ts'

const { host } = await hostOf([fixture('misbehaving.mjs', { name: 'tm_bad' })])
const call = tell(host.topics['tm_bad']!, process.argv[2]!)
// The call has begun when an answer to the one before it would have come.
await Promise.race([call, new Promise(resolve => setTimeout(resolve, 500))])
process.stdout.write(`${host.states()[0]!.pid}\n`)
