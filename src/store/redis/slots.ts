/**
 * Where keys live in a cluster. A store has a fixed number of partitions; a partition is one slot of the cluster,
 * held there by a hash tag that all its keys begin with: `{1k}`. So everything in a partition can be changed by one
 * script. https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#hash-tags
 */

const SLOTS = 16384
/** A transaction's outputs begin with `h:` and its id, and so share a partition. */
export const PARTITIONED_BYTES = 34

const CRC16 = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
  return crc
})

/** The slot of a hash tag: CRC-16/XMODEM of its characters, which are ASCII. */
export const slotOf = (tag: string): number => {
  let crc = 0
  for (let i = 0; i < tag.length; i++) {
    crc = ((crc << 8) & 0xffff) ^ CRC16[((crc >> 8) ^ tag.charCodeAt(i)) & 0xff]!
  }
  return crc % SLOTS
}

/**
 * The tags of so many partitions, spread evenly: the slots are cut into as many equal parts, and the tag of a
 * partition is the first number, in base 36, whose slot is in the middle quarter of its part.
 */
export const tagsOf = (partitions: number): string[] => {
  const width = SLOTS / partitions
  return Array.from({ length: partitions }, (_, partition) => {
    const middle = (partition + 0.5) * width
    for (let number = 0; ; number++) {
      const tag = number.toString(36)
      if (Math.abs(slotOf(tag) + 0.5 - middle) <= Math.max(width / 8, 0.5)) return tag
    }
  })
}

/** The partition of a key, by FNV-1a of its first bytes; the last step spreads what differs only at the end. */
export const partitionOf = (key: Uint8Array, partitions: number): number => {
  if (partitions === 1) return 0
  const length = Math.min(key.length, PARTITIONED_BYTES)
  let hash = 0x811c9dc5
  for (let i = 0; i < length; i++) hash = Math.imul(hash ^ key[i]!, 0x01000193)
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x7feb352d)
  hash ^= hash >>> 15
  return (hash >>> 0) % partitions
}
