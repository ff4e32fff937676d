/**
 * The hashes of Bitcoin, by OpenSSL. `crypto.hash` needs no hash object and takes two thirds of the time; Node has it
 * from 20.12. A digest comes as a string: memory for a Buffer takes longer to get than the digest to make.
 */
import crypto from 'node:crypto'

type Algorithm = 'sha256' | 'ripemd160'

/** With one character for each byte. */
const digest: (algorithm: Algorithm, data: Uint8Array) => string = crypto.hash
  ? (algorithm, data) => crypto.hash(algorithm, data, 'binary')
  : (algorithm, data) => crypto.createHash(algorithm).update(data).digest('binary')

const bytesOf = (text: string, bytes = new Uint8Array(text.length)): Uint8Array => {
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

/** The first hash of two, until the second is made. */
const between = new Uint8Array(32)

export const sha256 = (data: Uint8Array): Uint8Array => bytesOf(digest('sha256', data))

export const ripemd160 = (data: Uint8Array): Uint8Array => bytesOf(digest('ripemd160', data))

/** SHA-256 twice: txids, merkle nodes, block hashes, checksums, what is signed. */
export const sha256d = (data: Uint8Array): Uint8Array => sha256(bytesOf(digest('sha256', data), between))

/** RIPEMD-160 of SHA-256: what a public key or a script is paid by. */
export const hash160 = (data: Uint8Array): Uint8Array => ripemd160(bytesOf(digest('sha256', data), between))
