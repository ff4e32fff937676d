/**
 * Fingerprints of declarations: a build proves a keyspace once and keeps its fingerprint, so that a program that
 * defines the same keyspace need not prove it again. They tell one declaration from another, not a declaration from a
 * forgery: the list of proved fingerprints is the caller's own code.
 */
import { toHex } from '@quoin/primitives'
import type { Codec } from './codec.ts'
import type { Part } from './layout.ts'
import type { PromisedScan, Subject } from './proof/findings.ts'

/** The text of a subject: everything that a proof reads, except the functions of its codecs. */
export const describeSubject = ({ name, layout, scans }: Subject): string =>
  JSON.stringify([name, layout.parts.map(describePart), scans.map(describeScan)])

const describePart = (part: Part): string =>
  part.kind === 'literal'
    ? toHex(part.bytes)
    : `${part.component.name}: ${part.component.codec.name} ${part.language.notation} ${describeOrder(part.component.codec)}`

const describeOrder = ({ order, show }: Codec<unknown>): string =>
  typeof order === 'string' ? order : order.map(show).join(' < ')

const describeScan = ({ components, parts, order }: PromisedScan): string =>
  `${components.join()} ${parts} ${order}`

/** 104 bits of texts in order: two lanes of 52 bits, multiplied and mixed for each UTF-16 unit. */
export const fingerprintOf = (texts: readonly string[]): string => {
  const text = JSON.stringify(texts)
  return [0x9e3779b9, 0x85ebca6b].map(seed => lane(text, seed)).join('')
}

const lane = (text: string, seed: number): string => {
  let a = 0xdeadbeef ^ seed
  let b = 0x41c6ce57 ^ seed
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    a = Math.imul(a ^ unit, 2654435761)
    b = Math.imul(b ^ unit, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return (2 ** 32 * (b & 0xfffff) + (a >>> 0)).toString(16).padStart(13, '0')
}
