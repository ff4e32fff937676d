/** The tables of a store, and the version of their layout. Keys are bytes, which PostgreSQL orders as bytes. */
import { QuoinError } from '@quoin/primitives'
import type { Query } from './client.ts'
import { stateOf } from './errors.ts'

const VERSION = 1
const ATTEMPTS = 5

/** Makes the tables of version 1. `README.md` explains them. */
const tables = (schema: string): string => `
  CREATE SCHEMA IF NOT EXISTS ${schema};
  CREATE TABLE ${schema}.store_version (version int4 NOT NULL PRIMARY KEY);
  CREATE TABLE ${schema}.key_values (
    key bytea NOT NULL, value bytea NOT NULL,
    PRIMARY KEY (key));
  CREATE TABLE ${schema}.hash_fields (
    key bytea NOT NULL, field bytea NOT NULL, value bytea NOT NULL,
    PRIMARY KEY (key, field));
  CREATE TABLE ${schema}.set_members (
    key bytea NOT NULL, member bytea NOT NULL,
    PRIMARY KEY (key, member));
  CREATE TABLE ${schema}.sorted_sets (
    key bytea NOT NULL, member bytea NOT NULL, score float8 NOT NULL,
    PRIMARY KEY (key, member));
  CREATE INDEX sorted_sets_by_score ON ${schema}.sorted_sets (key, score, member);
  CREATE TABLE ${schema}.queue_items (
    key bytea NOT NULL, item bytea NOT NULL,
    state text NOT NULL, at float8 NOT NULL, score float8 NOT NULL, enqueued float8 NOT NULL,
    attempts int4 NOT NULL, error_class bytea NOT NULL, reason bytea NOT NULL,
    since float8, token bytea, dependency bytea,
    PRIMARY KEY (key, item));
  CREATE INDEX queue_items_by_state ON ${schema}.queue_items (key, state, at, item);
  CREATE INDEX queue_items_by_dependency ON ${schema}.queue_items (key, dependency) WHERE dependency IS NOT NULL;
  INSERT INTO ${schema}.store_version VALUES (${VERSION});`

/** UNDEFINED_TABLE, INVALID_SCHEMA_NAME. */
const MISSING = new Set(['42P01', '3F000'])
/** Of processes that make the tables at the same time, one wins. */
const RACED = new Set(['23505', '42P06', '42P07', '42710', '40001', 'XX000'])

/** Opens the tables of a store, or makes them where the schema has none. */
export const openSchema = async (query: Query, schema: string): Promise<void> => {
  for (let attempt = 1; ; attempt++) {
    const version = await versionOf(query, schema)
    if (version === VERSION) return
    if (version !== undefined) {
      throw new QuoinError(
        'ERR_STORE_VERSION',
        `the store has layout ${version}; this version of Quoin reads layout ${VERSION}`,
        { version, expected: VERSION }
      )
    }
    try {
      await makeTables(query, schema)
      return
    } catch (error) {
      if (attempt === ATTEMPTS || !RACED.has(stateOf(error) ?? '')) throw error
    }
  }
}

const versionOf = async (query: Query, schema: string): Promise<number | undefined> => {
  try {
    const [row] = await query(`SELECT version FROM ${schema}.store_version`)
    return row?.[0] as number | undefined
  } catch (error) {
    if (MISSING.has(stateOf(error) ?? '')) return undefined
    throw error
  }
}

const makeTables = async (query: Query, schema: string): Promise<void> => {
  const [row] = await query(
    'SELECT count(*) FROM information_schema.tables WHERE table_schema = $1 AND table_name <> $2',
    [schema, 'store_version']
  )
  const count = row![0] as number
  if (count > 0) {
    throw new QuoinError(
      'ERR_STORE_VERSION',
      `the schema ${schema} has ${count} tables and is not a store of Quoin: name another, as in ?schema=NAME`,
      { schema, tables: count }
    )
  }
  // Several statements in one string are one transaction.
  await query(tables(schema))
}
