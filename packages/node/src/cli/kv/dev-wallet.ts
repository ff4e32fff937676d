/** `quoin dev-wallet`: a development wallet over HTTP, in the JSON that `HTTPWalletJSON` of @bsv/sdk speaks. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { WalletInterface } from '@bsv/sdk'
import { openDevWallet } from '@quoin/kvstore-client/dev-wallet'
import { QuoinError, reasonOf } from '@quoin/primitives'
import { EXIT, paint, print, printJson } from '@quoin/primitives/command'
import { walletFile } from '../../wallet/wallet-file.ts'
import { signals } from '../node/shutdown-signals.ts'

export interface DevWalletCommandOptions {
  readonly url: string
  readonly port: string
  readonly file?: string
  readonly json?: boolean
}

export const serveDevWallet = async ({
  url,
  port,
  file,
  json = false
}: DevWalletCommandOptions): Promise<number> => {
  const ending = signals()
  try {
    const wallet = await openDevWallet({
      node: url,
      ...(file !== undefined && { storage: walletFile(file) })
    })
    const server = await listen(wallet, portOf(port))
    const address = `http://localhost:${(server.address() as AddressInfo).port}`
    const { publicKey } = await wallet.getPublicKey({ identityKey: true })
    if (json) printJson({ url: address, identityKey: publicKey })
    else {
      print(`${paint('bold', 'the development wallet')} is listening on ${paint('cyan', address)}`)
      print(
        `  node       ${url}\n  identity   ${publicKey}\n  kept in    ${file ?? 'memory, gone at the end'}`
      )
      print(`\nnew WalletClient() of @bsv/sdk finds it. Ctrl-C ends it.`)
    }
    await ending.first
    server.closeAllConnections()
    server.close()
    return EXIT.ok
  } finally {
    ending.end()
  }
}

const portOf = (text: string): number => {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 0xffff) return Number(text)
  throw new QuoinError('ERR_USAGE', `--port is a number from 0 to 65535, not ${text}`, { port: text })
}

/** On this machine only. */
const listen = (wallet: WalletInterface, port: number): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer((request, response) => {
      void answer(wallet, request).then(
        value => respond(response, 200, value),
        (error: unknown) => respond(response, 400, errorBody(error))
      )
    })
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new QuoinError('ERR_CONFIG', `cannot listen on port ${port}: ${reasonOf(cause)}`, { port, cause })
      )
    )
    server.listen(port, '127.0.0.1', () => resolve(server))
  })

/** A BEEF as an array of numbers in JSON has some four bytes for each of its own. */
const MAX_BODY = 256 << 20

const answer = async (wallet: WalletInterface, request: IncomingMessage): Promise<unknown> => {
  if (request.method === 'OPTIONS') return {}
  const method = (request.url ?? '').slice(1)
  if (request.method !== 'POST' || !Object.hasOwn(wallet, method)) {
    throw new QuoinError('ERR_REQUEST', `${request.method} ${request.url} is no method of a wallet (BRC-100)`)
  }
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    length += chunk.length
    if (length > MAX_BODY) throw new QuoinError('ERR_REQUEST', `the body exceeds ${MAX_BODY} bytes`)
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString()
  const args: unknown = text === '' ? {} : JSON.parse(text)
  return (wallet[method as keyof WalletInterface] as (given: unknown) => Promise<unknown>)(args)
}

/** Errors of wallets have a number and their own fields (`WERR_REVIEW_ACTIONS`); others have a message. */
const errorBody = (error: unknown): object => {
  const { isError, code } = Object(error) as Record<string, unknown>
  return isError === true
    ? { ...(error as object), message: reasonOf(error) }
    : { code, message: reasonOf(error) }
}

const respond = (response: ServerResponse, status: number, value: unknown): void => {
  response.writeHead(status, {
    'content-type': 'application/json',
    'access-control-allow-origin': '*',
    'access-control-allow-headers': '*'
  })
  response.end(JSON.stringify(value))
}
