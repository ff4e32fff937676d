/** The fields of a raw transaction that the page shows: its inputs and its length. */
export interface RawTransaction {
  readonly version: number
  readonly lockTime: number
  readonly length: number
  readonly inputs: readonly {
    readonly outpoint: string
    readonly scriptLength: number
    readonly sequence: number
  }[]
  readonly outputs: readonly { readonly satoshis: bigint; readonly scriptLength: number }[]
}

/** The node has checked the bytes; truncated ones throw an error of `DataView`. */
export const parseTransaction = (bytes: Uint8Array): RawTransaction => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  const u32 = (): number => {
    at += 4
    return view.getUint32(at - 4, true)
  }
  const u64 = (): bigint => {
    at += 8
    return view.getBigUint64(at - 8, true)
  }
  const varint = (): number => {
    const first = view.getUint8(at++)
    if (first < 0xfd) return first
    if (first === 0xfd) {
      at += 2
      return view.getUint16(at - 2, true)
    }
    return first === 0xfe ? u32() : Number(u64())
  }
  const script = (): number => {
    const length = varint()
    at += length
    return length
  }
  const version = u32()
  const inputs = Array.from({ length: varint() }, () => {
    const txid = hexOf(bytes.slice(at, at + 32).reverse())
    at += 32
    return { outpoint: `${txid}.${u32()}`, scriptLength: script(), sequence: u32() }
  })
  const outputs = Array.from({ length: varint() }, () => ({ satoshis: u64(), scriptLength: script() }))
  return { version, inputs, outputs, lockTime: u32(), length: bytes.length }
}

export const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
