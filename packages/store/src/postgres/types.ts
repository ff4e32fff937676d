/** Values of PostgreSQL as the engine takes them. */

/** By the numbers of types in pg_type.dat: bytea, bool, the numbers. Other values stay text. */
export const parserOf = (oid: number): ((text: string) => unknown) => {
  switch (oid) {
    case 17:
      return bytesFrom
    case 16:
      return text => text === 't'
    case 20:
    case 21:
    case 23:
    case 700:
    case 701:
      return Number
    default:
      return text => text
  }
}

/** `\x0a1b`; bytes of their own, not of the memory that small buffers share. */
const bytesFrom = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.slice(2), 'hex'))
