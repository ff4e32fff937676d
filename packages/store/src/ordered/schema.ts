/**
 * The schema version of a store, which is a row of it, the one without a checksum, so that every version can read it:
 * written when the store is made, checked whenever it is opened.
 * A copy gets it last, so rows without it are a copy that was cut off, or somebody else's.
 */
import { QuoinError, toHex } from '@quoin/primitives'
import type { StoreKind } from './directory.ts'
import { META, readId } from './layout.ts'
import { packId } from './rows.ts'

/** Of the rows that this version reads and writes: 1 had no checksums. */
export const SCHEMA_VERSION = 2

export const schemaRow = { key: META.schema, value: packId(SCHEMA_VERSION) }

/**
 * The version in the schema row, which may be missing only from an empty database: then it is undefined.
 * Refuses other versions.
 */
export const checkSchema = (
  kind: StoreKind,
  path: string,
  row: Uint8Array | undefined,
  isEmpty: () => boolean
): number | undefined => {
  if (!row) {
    if (isEmpty()) return undefined
    throw new QuoinError(
      'ERR_STORE_VERSION',
      `the database in ${path} has rows, but none that says which version of Quoin wrote them: ` +
        'it is of another program, or a copy that was cut off. ' +
        'Name another directory, or delete this one and copy again',
      { path }
    )
  }
  if (row.length !== schemaRow.value.length) {
    const schema = toHex(new Uint8Array(row))
    throw new QuoinError(
      'ERR_STORE_VERSION',
      `the database in ${path} has the unknown schema version ${schema}`,
      {
        path,
        schema
      }
    )
  }
  return knownSchema(kind, path, readId(row, 0))
}

export const knownSchema = (kind: StoreKind, path: string, schema: number): number => {
  if (schema === SCHEMA_VERSION) return schema
  if (schema >= 1 && schema < SCHEMA_VERSION)
    throw needsUpgrade(kind, path, `it has schema version ${schema}`)
  throw new QuoinError(
    'ERR_STORE_VERSION',
    `a newer Quoin wrote ${path}: it has schema version ${schema}, and this one reads ${SCHEMA_VERSION}. ` +
      'Update Quoin to open it',
    { path, schema, readable: SCHEMA_VERSION }
  )
}

/** The refusal of a store that an earlier version wrote. */
export const needsUpgrade = (kind: StoreKind, path: string, reason: string): QuoinError =>
  new QuoinError(
    'ERR_STORE_UPGRADE',
    `an earlier version of Quoin wrote ${path}: ${reason}. Run: quoin upgrade ${kind}:${path}`,
    { path, url: `${kind}:${path}`, reason }
  )
