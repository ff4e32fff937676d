/** Prints the locking script of an entry, in hexadecimal: `node entry-script.mjs 'Hello'`. */
import { LockingScript, OP, PrivateKey, Utils } from '@bsv/sdk'

const text = process.argv[2] ?? 'Hello'
const script = new LockingScript()
script.writeBin(PrivateKey.fromHex('01').toPublicKey().encode(true))
script.writeOpCode(OP.OP_CHECKSIG)
for (const field of ['guestbook', text]) script.writeBin(Utils.toArray(field, 'utf8'))
script.writeOpCode(OP.OP_2DROP)
process.stdout.write(`${script.toHex()}\n`)
