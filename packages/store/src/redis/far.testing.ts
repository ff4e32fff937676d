/** A server that is further away than it is: every answer comes a millisecond later, as from another building. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** In a thread, so that who asks and who delays do not wait for one another. */
const DELAY = `
  const { createServer, connect } = require('node:net')
  const { parentPort, workerData: { port } } = require('node:worker_threads')
  const server = createServer(client => {
    const far = connect(port, '127.0.0.1').setNoDelay(true)
    client.setNoDelay(true).pipe(far)
    far.on('data', data => setTimeout(() => client.write(data), 1))
    for (const [one, other] of [[client, far], [far, client]]) {
      one.on('close', () => other.destroy()).on('error', () => other.destroy())
    }
  })
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
`

export const farAway = async (url: string): Promise<{ readonly url: string; stop(): Promise<unknown> }> => {
  const far = new URL(url)
  const worker = new Worker(DELAY, { eval: true, workerData: { port: Number(far.port) } })
  const [port] = await once(worker, 'message')
  far.port = String(port)
  return { url: far.href, stop: () => worker.terminate() }
}
