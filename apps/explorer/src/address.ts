/** Addresses: base58 of a version, twenty bytes and a checksum of four. */
import { BASE58 } from '@quoin/primitives'

const LENGTH = 25

/** The 25 bytes of an address; undefined when malformed. */
export const addressBytes = (text: string): Uint8Array<ArrayBuffer> | undefined => {
  if (!/^[1-9A-HJ-NP-Za-km-z]{26,35}$/.test(text)) return undefined
  let value = 0n
  for (const char of text) value = value * 58n + BigInt(BASE58.indexOf(char))
  const hex = value === 0n ? '' : value.toString(16)
  const digits = hex.padStart(hex.length + (hex.length % 2), '0').match(/../g) ?? []
  const zeros = /^1*/.exec(text)![0].length
  if (zeros + digits.length !== LENGTH) return undefined
  return Uint8Array.from([...Array(zeros).fill(0), ...digits.map(each => Number.parseInt(each, 16))])
}

/** Whether the checksum holds; undefined where the browser cannot hash, on pages that are not secure. */
export const isRightAddress = async (text: string): Promise<boolean | undefined> => {
  const bytes = addressBytes(text)
  if (!bytes) return false
  if (!globalThis.crypto?.subtle) return undefined
  const once = await crypto.subtle.digest('SHA-256', bytes.slice(0, -4))
  const twice = new Uint8Array(await crypto.subtle.digest('SHA-256', once))
  return bytes.slice(-4).every((byte, i) => byte === twice[i])
}
