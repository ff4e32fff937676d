/** Headers for tests: real ones of the regression test network, and made-up ones where no proof of work is asked for. */
import { sha256 } from '../hash.ts'
import { Branch } from './branch.ts'
import { type ChainHeader, type Header, parseHeader, writeHeader } from './header.ts'
import { NETWORKS } from './networks.ts'
import { workOf } from './target.ts'

export const GENESIS = parseHeader(NETWORKS.regtest.genesis)
/** The first blocks of the main network after its first; their hashes prove them. */
export const MAIN_1 =
  '010000006fe28c0ab6f1b372c1a6a246ae63f74f931e8365e15a089c68d6190000000000982051fd1e4ba744bbbe680e1fee14677ba1a3c3540bf7b1cdb606e857233e0e61bc6649ffff001d01e36299'
export const MAIN_2 =
  '010000004860eb18bf1b1620e37e9490fc8a427514416fd75159ab86688e9a8300000000d5fdcc541e25de1c7a5addedf24858b8bb665c9f36ef744ee42c316022c90f9bb0bc6649ffff001d08d2bd61'

const rootOf = (salt: string | number): Uint8Array => sha256(new TextEncoder().encode(`root ${salt}`))

/** A header with proof of work on top of another; other salts give other headers. */
export const mineOn = (
  parent: Header,
  salt: string | number = 0,
  { bits = parent.bits, time = parent.time + 600 }: { bits?: number; time?: number } = {}
): Header => {
  for (let nonce = 0; ; nonce++) {
    const header = writeHeader({
      version: 0x20000000,
      previous: parent.hash,
      merkleRoot: rootOf(salt),
      time,
      bits,
      nonce
    })
    if (header.hasProofOfWork) return header
  }
}

/** So many headers, each on top of the one before. */
export const mineLine = (parent: Header, count: number, salt: string | number = 0): Header[] => {
  const line: Header[] = []
  for (let i = 0; i < count; i++) line.push(mineOn(line.at(-1) ?? parent, salt))
  return line
}

export const joined = (headers: readonly Header[]): Uint8Array =>
  new Uint8Array(Buffer.concat(headers.map(({ raw }) => raw)))

/** A line without proof of work: where it begins, and the time and bits of each header. */
export const madeUp = (
  height: number,
  headers: readonly { readonly time: number; readonly bits: number }[]
): Branch => {
  const line: ChainHeader[] = []
  for (const { time, bits } of headers) {
    const header = writeHeader({
      version: 1,
      previous: line.at(-1)?.header.hash ?? new Uint8Array(32),
      merkleRoot: rootOf(0),
      time,
      bits,
      nonce: 0
    })
    line.push({ header, height: height + line.length, work: (line.at(-1)?.work ?? 0n) + workOf(bits) })
  }
  return new Branch(line)
}

/** Adds a header to a made-up line, so many seconds after the last. */
export const addMadeUp = (branch: Branch, seconds: number, bits: number): void => {
  const { header } = branch.tip
  branch.push(
    writeHeader({
      version: 1,
      previous: header.hash,
      merkleRoot: rootOf(0),
      time: header.time + seconds,
      bits,
      nonce: 0
    })
  )
}
