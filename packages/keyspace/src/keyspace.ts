/**
 * A keyspace is a set of named collections, proved when it is defined: an unsound one is refused with a witness.
 * Keyspaces that share a store form a group, proved pair by pair as each joins.
 */
import { QuoinError } from '@quoin/primitives'
import { Collection } from './collection.ts'
import { type Declaration, type KeyPart, partsOf, promisedScan, type Scan } from './declaration.ts'
import { type Explanation, explain } from './explain.ts'
import { describeSubject, fingerprintOf } from './fingerprint.ts'
import { Layout, type Part } from './layout.ts'
import type { Finding, PromisedScan, Subject } from './proof/findings.ts'
import { PROPERTIES, type Proof, prove, proveDisjoint } from './proof/prove.ts'
import type { Shape } from './value.ts'

// biome-ignore lint/suspicious/noExplicitAny: a keyspace holds declarations of any types; each is inferred.
type Declarations = Readonly<Record<string, Declaration<any, any, any>>>

export type CollectionsOf<D extends Declarations> = {
  readonly [Name in keyof D]: D[Name] extends Declaration<
    infer P extends readonly KeyPart[],
    infer S extends readonly unknown[],
    infer V extends Shape
  >
    ? Collection<P, S, V>
    : never
}

export class Keyspace<D extends Declarations = Declarations> {
  readonly name: string
  readonly about: string
  readonly collections: CollectionsOf<D>
  /** The subjects of the proof, in the order of declaration. */
  readonly subjects: readonly Subject[]
  /** A digest of the subjects. */
  readonly fingerprint: string
  #proof: Proof | undefined

  /** @internal Keyspaces are made by `keyspace`. */
  constructor(name: string, about: string, declarations: D, proved: readonly string[]) {
    this.name = name
    this.about = about
    this.subjects = Object.entries(declarations).map(([each, declaration]) => subjectOf(each, declaration))
    this.fingerprint = fingerprintOf(this.subjects.map(describeSubject))
    if (!proved.includes(this.fingerprint)) refuseUnsound(name, this.proof.findings)
    this.collections = Object.fromEntries(
      this.subjects.map(subject => [subject.name, new Collection(name, subject, declarations[subject.name]!)])
    ) as CollectionsOf<D>
  }

  /** The verdicts on all seven properties, decided here and not taken from the build. */
  get proof(): Proof {
    if (!this.#proof) {
      const { orders: _, ...proof } = prove(this.subjects)
      this.#proof = proof
    }
    return this.#proof
  }

  /** Explains a raw key: its collection, or the nearest one. */
  explain(key: Uint8Array): Explanation {
    return explain(key, [this])
  }

  /** The collections without their types, in the order of declaration. */
  get all(): readonly Collection[] {
    return Object.values(this.collections) as unknown as readonly Collection[]
  }
}

/** A keyspace whose collections are not known in the types. */
export type AnyKeyspace = Omit<Keyspace, 'collections'>

/**
 * Defines a keyspace and proves it.
 *
 * @example
 * const { notes } = keyspace('app', {
 *   notes: collection({ key: ['note:', escaped('user'), ':', u64('id')], scans: [['user']] })
 * }).collections
 * notes.decode(notes.encode('a:b', 10n)) // [ 'a:b', 10n ]
 * keyspace('app', { notes: collection({ key: [text('user'), ':', text('name')] }) }) // throws ERR_KEYSPACE_UNSOUND
 */
export const keyspace = <const D extends Declarations>(
  name: string,
  declarations: D,
  { about = '', proved = [] }: KeyspaceOptions = {}
): Keyspace<D> => new Keyspace(name, about, declarations, proved)

export interface KeyspaceOptions {
  readonly about?: string
  /**
   * Fingerprints of declarations that the caller's build has proved, with the codecs that the caller ships. A
   * declaration with another fingerprint is proved when it is defined.
   */
  readonly proved?: readonly string[]
}

/** Keyspaces that share one store. */
export class KeyspaceGroup {
  readonly name: string
  readonly #members: AnyKeyspace[] = []

  constructor(name: string, members: readonly AnyKeyspace[] = [], { proved = [] }: KeyspaceOptions = {}) {
    this.name = name
    if (proved.includes(groupFingerprint(members))) this.#members.push(...members)
    else for (const member of members) this.add(member)
  }

  get members(): readonly AnyKeyspace[] {
    return this.#members
  }

  /** The proof of each pair of members. */
  get proofs(): readonly Proof[] {
    return this.#members.flatMap((member, i) =>
      this.#members.slice(0, i).map(other => proveDisjointKeyspaces(member, other))
    )
  }

  /** A digest of the members, in the order of joining. */
  get fingerprint(): string {
    return groupFingerprint(this.#members)
  }

  /** Proves a keyspace against all members and adds it, or refuses it and changes nothing. */
  add(member: AnyKeyspace): void {
    if (this.#members.some(({ name }) => name === member.name)) {
      throw new QuoinError(
        'ERR_KEYSPACE_DECLARATION',
        `${this.name} already has a keyspace called ${member.name}`
      )
    }
    const findings = this.#members.flatMap(other => proveDisjointKeyspaces(member, other).findings)
    refuseUnsound(`${member.name} in ${this.name}`, findings)
    this.#members.push(member)
  }

  explain(key: Uint8Array): Explanation {
    return explain(key, this.#members)
  }
}

const pairs = new WeakMap<AnyKeyspace, WeakMap<AnyKeyspace, Proof>>()

/** Each pair is proved once, in however many groups it is. */
const proveDisjointKeyspaces = (one: AnyKeyspace, other: AnyKeyspace): Proof => {
  const known = pairs.get(one) ?? new WeakMap<AnyKeyspace, Proof>()
  pairs.set(one, known)
  const proof = known.get(other) ?? proveDisjoint(qualified(one), qualified(other))
  known.set(other, proof)
  return proof
}

const groupFingerprint = (members: readonly AnyKeyspace[]): string =>
  fingerprintOf(members.map(({ name, fingerprint }) => `${name} ${fingerprint}`))

/** The subjects of a keyspace under names that are unique in the group. */
const qualified = ({ name, subjects }: AnyKeyspace): Subject[] =>
  subjects.map(subject => ({ ...subject, name: `${name}.${subject.name}` }))

const subjectOf = (name: string, { key, scans }: Declaration): Subject => {
  const parts = partsOf(key)
  return {
    name,
    layout: new Layout(parts),
    scans: scans.map(scan => declaredScan(name, parts, scan as Scan))
  }
}

/** Checks a declared scan, since JavaScript may pass any value. */
const declaredScan = (collection: string, parts: readonly Part[], scan: Scan): PromisedScan => {
  const refuse = (reason: string): QuoinError =>
    new QuoinError('ERR_KEYSPACE_DECLARATION', `a scan of ${collection} ${reason}`, { collection })
  const { prefix, order, trailing, ...unknown } = Array.isArray(scan)
    ? { prefix: scan }
    : (scan as Exclude<Scan, readonly string[]>)
  const [extra] = Object.keys(unknown)
  if (extra !== undefined) throw refuse(`has an unknown field ${extra}; known: prefix, order, trailing`)
  if (!Array.isArray(prefix)) throw refuse('needs a list of components')
  if (order !== undefined && order !== 'value')
    throw refuse(`claims an order ${order}; only 'value' can be claimed`)
  const names = parts.flatMap(part => (part.kind === 'component' ? [part.component.name] : []))
  for (const [i, name] of prefix.entries()) {
    if (!names.includes(name)) throw refuse(`names ${name}, which is not a component of its key`)
    if (prefix.indexOf(name) !== i) throw refuse(`names ${name} twice`)
  }
  if (trailing !== undefined && typeof trailing !== 'boolean')
    throw refuse('has an invalid trailing: expected true or false')
  return promisedScan(parts, prefix, order, trailing)
}

const refuseUnsound = (name: string, findings: readonly Finding[]): void => {
  if (findings.length === 0) return
  const lines = findings.map(({ property, message }) => `  ${property} (${PROPERTIES[property]}): ${message}`)
  throw new QuoinError('ERR_KEYSPACE_UNSOUND', `keyspace ${name} is refused:\n${lines.join('\n')}`, {
    findings
  })
}
