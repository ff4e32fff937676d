/** Who a client is: behind proxies that are trusted, behind others, and without any. */
import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { ClientAddresses, isTrustedProxy } from './client-address.ts'

const clientOf = (trusted: readonly string[], peer: string, headers: IncomingMessage['headers'] = {}) =>
  new ClientAddresses(trusted).of({ socket: { remoteAddress: peer }, headers } as IncomingMessage)

const forwarded = (...addresses: readonly string[]) => ({ 'x-forwarded-for': addresses.join(', ') })

it('believes no forwarded address unless the proxy is trusted', () => {
  expect(clientOf([], '203.0.113.9', forwarded('9.9.9.9'))).toMatchObject({
    address: '203.0.113.9',
    isLocal: false,
    untrustedProxy: undefined
  })
  // The node is reached past the proxy.
  expect(clientOf(['10.0.0.1'], '203.0.113.9', forwarded('9.9.9.9')).address).toBe('203.0.113.9')
})

it('takes a process of this machine for local only without a forwarding header', () => {
  for (const peer of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '127.9.9.9'])
    expect(clientOf([], peer).isLocal, peer).toBe(true)
  for (const name of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip']) {
    const client = clientOf([], '127.0.0.1', { [name]: '9.9.9.9' })
    expect(client, name).toMatchObject({ address: '127.0.0.1', isLocal: false, untrustedProxy: '127.0.0.1' })
  }
  expect(clientOf([], '10.0.0.7', forwarded('9.9.9.9')).untrustedProxy).toBe('10.0.0.7')
  expect(clientOf([], '9.9.9.9').isLocal).toBe(false)
  expect(clientOf([], '').isLocal).toBe(false)
})

it('walks back from the socket to the first address that is no trusted proxy', () => {
  const trusted = ['loopback', '10.1.0.0/16', '2001:db8:5::/48']
  const of = (...addresses: readonly string[]) =>
    clientOf(trusted, '127.0.0.1', forwarded(...addresses)).address
  expect(of('9.9.9.9')).toBe('9.9.9.9')
  expect(of('9.9.9.9', '10.1.2.3')).toBe('9.9.9.9')
  expect(of('9.9.9.9', '2001:db8:5::7', '10.1.2.3')).toBe('9.9.9.9')
  // Written by the client itself, before the address that the proxy saw.
  expect(of('127.0.0.1', '9.9.9.9', '10.1.2.3')).toBe('9.9.9.9')
  expect(of('9.9.9.9', 'unknown', '10.1.2.3')).toBe('10.1.2.3')
  expect(of('9.9.9.9:1234', '[2001:db8:5::7]:80')).toBe('9.9.9.9')
  expect(of('[2001:db8::1]')).toBe('2001:db8::1')
  expect(of('10.1.9.9')).toBe('10.1.9.9')
})

it('takes a forwarded address of this machine for a stranger, and a direct request for local', () => {
  const trusted = ['loopback']
  expect(clientOf(trusted, '127.0.0.1', forwarded('127.0.0.1')).isLocal).toBe(false)
  expect(clientOf(trusted, '127.0.0.1')).toMatchObject({
    address: '127.0.0.1',
    isLocal: true,
    untrustedProxy: undefined
  })
  expect(clientOf(trusted, '127.0.0.1', { via: '1.1 cache' }).isLocal).toBe(false)
  expect(clientOf(['10.0.0.1'], '10.0.0.1').isLocal).toBe(false)
  expect(clientOf(['10.0.0.1'], '10.0.0.1').isTrusted).toBe(true)
  expect(clientOf([], '127.0.0.1', forwarded('9.9.9.9')).isTrusted).toBe(false)
})

it('takes loopback, private, addresses and subnets', () => {
  for (const text of ['loopback', 'private', '10.0.0.1', '10.0.0.0/8', '::1', 'fc00::/7', '0.0.0.0/0'])
    expect(isTrustedProxy(text), text).toBe(true)
  for (const text of [
    '',
    'all',
    '10.0.0',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/8/8',
    '10.0.0.0/',
    'constructor'
  ])
    expect(isTrustedProxy(text), text).toBe(false)
  expect(() => new ClientAddresses(['nginx'])).toThrow('nginx is no address or subnet')
  expect(clientOf(['private'], '192.168.3.4', forwarded('9.9.9.9')).address).toBe('9.9.9.9')
})
