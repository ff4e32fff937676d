/** The routes of sync over HTTP, for tests: of a Quoin node, and of an engine of the reference. */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Engine as ReferenceEngine } from '@bsv/overlay'
import { answerAnchors } from '../anchors/serve.ts'
import { ANCHOR_ROUTES, type AnchorQuestion } from '../anchors/wire.ts'
import type { TestNode } from './node.testing.ts'
import { foreignNode, syncResponse } from './serve.ts'
import { transactionBatch } from './serve-batch.ts'
import type { NodeRequest, SyncRequest } from './wire.ts'

interface Routes {
  readonly list: (topic: string, body: unknown) => Promise<unknown>
  readonly node: (body: unknown) => Promise<unknown>
  readonly batch?: (topic: string, body: unknown) => Promise<Uint8Array>
  readonly anchors?: (question: AnchorQuestion, topic: string, body: unknown) => Promise<unknown>
}

const serve = (routes: Routes): Server =>
  createServer(async (request, response) => {
    try {
      const body = await bodyOf(request)
      const topic = String(request.headers['x-bsv-topic'])
      if (request.url === '/requestTransactions') {
        if (routes.batch) response.end(await routes.batch(topic, body))
        else response.writeHead(404).end()
        return
      }
      const question = questionAt(request.url)
      if (question && !routes.anchors) {
        response.writeHead(404).end()
        return
      }
      const answer = question
        ? await routes.anchors!(question, topic, body)
        : request.url === '/requestSyncResponse'
          ? await routes.list(topic, body)
          : await routes.node(body)
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
    } catch (error) {
      // As overlay-express: everything is 400, with the reason.
      const { code, message } = error as { code?: string; message: string }
      response.writeHead(400).end(JSON.stringify({ status: 'error', code, message }))
    }
  })

const questionAt = (url: string | undefined): AnchorQuestion | undefined =>
  (Object.keys(ANCHOR_ROUTES) as AnchorQuestion[]).find(each => ANCHOR_ROUTES[each] === url)

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString())
}

export const serveNode = (node: TestNode): Server =>
  serve({
    list: (topic, body) => syncResponse(node.engine, topic, body),
    node: body => foreignNode(node.engine, body),
    batch: (topic, body) => transactionBatch(node.engine, topic, body),
    anchors: (question, topic, body) => answerAnchors(node.engine, question, topic, body)
  })

export const serveReference = (engine: ReferenceEngine): Server =>
  serve({
    list: (topic, body) => engine.provideForeignSyncResponse(body as SyncRequest, topic),
    node: body => {
      const { graphID, txid, outputIndex } = body as NodeRequest
      return engine.provideForeignGASPNode(graphID, txid, outputIndex)
    }
  })

/** The address that a server listens at; it is added to those to close. */
export const listening = async (servers: Server[], server: Server): Promise<string> => {
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
