/** `p2pkh`: a plain payment to the hash of a public key, a script of exactly 25 bytes. */
import { isP2pkh } from '@quoin/chain'
import { addressAt } from './addresses.ts'
import { NONE, type ScriptParser } from './parser.ts'

export const p2pkhParser: ScriptParser = {
  tag: 'p2pkh',
  about: 'Payments to an address.',
  parse({ script }) {
    if (!isP2pkh(script)) return undefined
    const address = addressAt(script, 3)
    return { data: { address }, events: NONE, owners: [address] }
  }
}
