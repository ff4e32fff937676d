/** Notes that a BRC-100 wallet keeps for its owner, encrypted, in outputs of its own transactions. */
import { HTTPWalletJSON } from '@bsv/sdk'
import { LocalKV } from '@quoin/kvstore-client'

const wallet = new HTTPWalletJSON('notes.example', process.env['WALLET_URL'] ?? 'http://localhost:3321')
const notes = new LocalKV({ wallet, context: 'my notes' })

await notes.set('welcome', 'Hello')
await notes.set('welcome', 'Hello again')
console.log('welcome:', await notes.get('welcome'))
await notes.remove('welcome')
console.log('removed:', await notes.get('welcome'))
