/** The sessions of live lookups (BRC-193), so that every process of a node and a restarted one continues them. */
import { collection, hash, hex, json, keyspace } from '@quoin/keyspace'
import { PROVED } from '../../proved.ts'

/** Times are unix seconds. */
export interface StoredSession {
  readonly topic: string
  /** Of service and query. */
  readonly queryDigest: string
  /** The position of the membership log that the snapshot reflects. */
  readonly watermark: number
  readonly expiresAt: number
  readonly replayUntil: number
  readonly isClosed?: boolean
}

/** An opening by the digest of its request id. */
export interface StoredOpening {
  /** 32 hexadecimal digits. */
  readonly session: string
  /** The digest of the request. */
  readonly request: string
  readonly at: number
}

export const sessionFields = keyspace(
  'session-fields',
  {
    session: collection({
      key: ['session:', hex('session', { length: 16 })],
      value: json<StoredSession>(),
      about: 'A session by its id.'
    }),
    opening: collection({
      key: ['opening:', hex('request', { length: 32 })],
      value: json<StoredOpening>(),
      about: 'The session of a request id, by the SHA-256 of the id.'
    })
  },
  { about: 'Fields of `h:live`.', proved: PROVED }
)

export const liveLookups = keyspace(
  'live-lookups',
  {
    sessions: collection({
      key: ['h:live'],
      value: hash(sessionFields),
      about: 'Sessions and their openings.'
    }),
    epoch: collection({
      key: ['live:epoch'],
      value: json<string>(),
      about: 'A random name of the membership logs of this store: cursors of another store are refused.'
    })
  },
  { about: 'Live lookups (BRC-193).', proved: PROVED }
)
