/**
 * Parsing outputs, by what they are: this happens for every output of every transaction. Where the SDK reads a format,
 * it reads the same script to the same end.
 */
import { LockingScript, PushDrop, Utils } from '@bsv/sdk'
import { p2pkh } from '@quoin/chain'
import { suite } from '../../../../bench/harness.ts'
import { parseScript } from './parse.ts'
import type { ScriptContext } from './parser.ts'
import { bsv21, FIXTURES, OUTPOINT, payTo, person, pushDrop, scriptOf, utf8 } from './scripts.testing.ts'

const context = (script: Uint8Array): ScriptContext => ({ outpoint: OUTPOINT, satoshis: 1, script })
const HASHES = 100_000

export default suite(({ compare, growth }) => {
  const alice = person(1)
  const outputs = Array.from({ length: HASHES }, (_, i) => {
    const hash = new Uint8Array(20)
    new DataView(hash.buffer).setUint32(0, Math.imul(i, 0x9e3779b1))
    new DataView(hash.buffer).setUint32(4, i)
    return context(p2pkh(hash))
  })
  const sdkAddress = (script: Uint8Array): string =>
    Utils.toBase58Check(LockingScript.fromBinary([...script]).chunks[2]!.data!)
  let next = 0
  compare('parse a payment to a new address', {
    unit: 'us/op',
    ours: () => parseScript(outputs[next++ % HASHES]!),
    peers: { '@bsv/sdk': () => sdkAddress(outputs[next++ % HASHES]!.script) }
  })
  const payment = context(payTo(alice))
  compare('parse a payment to an address seen before', {
    unit: 'us/op',
    ours: () => parseScript(payment),
    peers: { '@bsv/sdk': () => sdkAddress(payment.script) }
  })
  const token = context(pushDrop(alice.key, [utf8('key'), utf8('value')]))
  compare('parse a PushDrop token', {
    unit: 'us/op',
    ours: () => parseScript(token),
    peers: { '@bsv/sdk': () => PushDrop.decode(LockingScript.fromBinary([...token.script])) }
  })
  const others: Readonly<Record<string, Uint8Array>> = {
    'BSV21 transfer': bsv21({ op: 'transfer', id: `${FIXTURES.mnee}_0`, amt: '5' }),
    'cosigned MNEE transfer': scriptOf('mneeTransfer'),
    'OrdLock listing': scriptOf('listing'),
    'MAP record': scriptOf('unlike'),
    'MAP record with an AIP signature': scriptOf('map', 2),
    'lock-to-mint contract': scriptOf('bamboo')
  }
  for (const [of, script] of Object.entries(others)) {
    const output = context(script)
    growth('parse', [1], () => () => parseScript(output), { unit: 'us/op', of })
  }
})
