/**
 * The rows of one table that a transaction touches. They are locked in the order of their ids, and the ones it depends on
 * are loaded; they change in memory; the difference is written.
 *
 * A name without a row is locked by inserting the row, so that other transactions which want it wait. It is inserted
 * with the value that it will have if every condition holds, which spares most rows a second write.
 */
import { equalBytes } from '@quoin/primitives'
import { binaryArray, type ColumnType, type ColumnValue } from './arrays.ts'
import type { Query, Row } from './client.ts'

export interface Column<T> {
  readonly name: string
  readonly type: ColumnType
  readonly encode: (value: T) => ColumnValue
}

export interface Table<T> {
  readonly name: string
  /** The columns of the primary key: of the structure, and of the member in it. */
  readonly keys: readonly ['key'] | readonly ['key', string]
  readonly columns: readonly Column<T>[]
  /** The value of a row from its columns, in their order. */
  readonly valueFrom: (row: Row) => T
  /** Of a row that only locks its name. */
  readonly blank: T
}

/** A row, or the absence of one. */
export interface Cell<T> {
  readonly id: string
  readonly key: Uint8Array
  readonly member: Uint8Array
  /** Whether the transaction depends on the value. */
  isRead: boolean
  /** The value that it will have if every condition holds, and every row that is read is absent. */
  predicted: T | undefined
  /** Whether a row that locks the name was inserted. */
  isInserted: boolean
  isChanged: boolean
  /** Undefined for a row that is absent, or is to be deleted. */
  value: T | undefined
}

const EMPTY: Uint8Array = new Uint8Array()

export class TableRows<T> {
  readonly #table: Table<T>
  readonly #sql: Statements
  readonly #cells = new Map<string, Cell<T>>()
  /** Whether a row is read. */
  hasReads = false

  constructor(schema: string, table: Table<T>) {
    this.#table = table
    this.#sql = statementsOf(schema, table)
  }

  get size(): number {
    return this.#cells.size
  }

  has(key: Uint8Array, member: Uint8Array): boolean {
    return this.#cells.has(idOf(key, member))
  }

  /** Names a row that may be written. */
  cell(key: Uint8Array, member = EMPTY): Cell<T> {
    const id = idOf(key, member)
    let cell = this.#cells.get(id)
    if (cell === undefined) {
      cell = newCell(id, key, member)
      this.#cells.set(id, cell)
    }
    return cell
  }

  /** Names a row that the transaction depends on. */
  readCell(key: Uint8Array, member = EMPTY): Cell<T> {
    const cell = this.cell(key, member)
    cell.isRead = true
    this.hasReads = true
    return cell
  }

  /** Takes the changes so far as predictions, and forgets them. */
  predict(): void {
    for (const cell of this.#cells.values()) {
      cell.predicted = cell.value
      cell.value = undefined
      cell.isChanged = false
    }
  }

  get hasChanges(): boolean {
    for (const { isChanged } of this.#cells.values()) if (isChanged) return true
    return false
  }

  /** Whether a row is to be deleted. */
  get hasDeletions(): boolean {
    for (const { isChanged, value } of this.#cells.values()) if (isChanged && value === undefined) return true
    return false
  }

  /** The rows of a structure that are in memory. */
  *of(key: Uint8Array): Generator<readonly [member: Uint8Array, value: T]> {
    const prefix = idOf(key, EMPTY)
    for (const { id, member, value } of this.#cells.values()) {
      if (value !== undefined && id.startsWith(prefix)) yield [member, value]
    }
  }

  /** Takes a row that was loaded and locked by another statement. */
  adopt(key: Uint8Array, member: Uint8Array, value: T): void {
    const cell = this.cell(key, member)
    if (cell.isRead) return
    cell.isRead = true
    cell.value = value
  }

  /** Locks the rows that fulfil `isWanted`, and loads the ones that are read. */
  async lock(query: Query, isWanted: (cell: Cell<T>) => boolean = () => true): Promise<void> {
    const cells = inOrder(this.#cells.values(), isWanted)
    if (cells.length === 0) return
    const names = this.#keysOf(cells)
    const { blank, columns } = this.#table
    const values = columns.map(({ type, encode }) =>
      binaryArray(type, cells, ({ predicted }) => encode(predicted ?? blank))
    )
    markInserted(cells, await query(this.#sql.lock, [...names, ...values]))
    const present = cells.filter(({ isInserted, isRead }) => isRead && !isInserted)
    if (present.length === 0) return
    for (const [n, ...row] of await query(this.#sql.load, this.#keysOf(present))) {
      present[(n as number) - 1]!.value = this.#table.valueFrom(row)
    }
  }

  /** Writes the changes, and removes rows that only locked their names. */
  async write(query: Query): Promise<void> {
    const changed = inOrder(this.#cells.values(), cell => this.#differs(cell))
    const present = changed.filter(({ value }) => value !== undefined)
    const absent = changed.filter(({ value }) => value === undefined)
    if (absent.length > 0) await query(this.#sql.delete, this.#keysOf(absent))
    if (present.length === 0) return
    const values = this.#table.columns.map(({ type, encode }) =>
      binaryArray(type, present, ({ value }) => encode(value!))
    )
    await query(this.#sql.upsert, [...this.#keysOf(present), ...values])
  }

  /** Whether the row of the table is another one than the row in memory. */
  #differs({ isInserted, isChanged, predicted, value }: Cell<T>): boolean {
    if (!isInserted || value === undefined || predicted === undefined) return isInserted || isChanged
    if (value === predicted) return false
    return this.#table.columns.some(({ encode }) => !isSame(encode(value), encode(predicted)))
  }

  #keysOf(cells: readonly Cell<T>[]): Buffer[] {
    const keys = binaryArray('bytea', cells, ({ key }) => key)
    return this.#table.keys.length === 1
      ? [keys]
      : [keys, binaryArray('bytea', cells, ({ member }) => member)]
  }
}

const newCell = <T>(id: string, key: Uint8Array, member: Uint8Array): Cell<T> => ({
  id,
  key,
  member,
  isRead: false,
  predicted: undefined,
  isInserted: false,
  isChanged: false,
  value: undefined
})

/** Changes a row; undefined deletes it. */
export const put = <T>(cell: Cell<T>, value: T | undefined): void => {
  cell.value = value
  cell.isChanged = true
}

const isSame = (a: ColumnValue, b: ColumnValue): boolean =>
  a === b || (a instanceof Uint8Array && b instanceof Uint8Array && equalBytes(a, b))

/** Two lengths of `MAX_KEY`, and the length of the key. */
const scratch = Buffer.allocUnsafe(4096)

/** One text for both; it begins with the same characters for all members of a key. */
const idOf = (key: Uint8Array, member: Uint8Array): string => {
  scratch[0] = key.length >> 8
  scratch[1] = key.length
  scratch.set(key, 2)
  scratch.set(member, 2 + key.length)
  return scratch.toString('latin1', 0, 2 + key.length + member.length)
}

/** All transactions lock in this order, so that none waits for one that waits for it. */
const inOrder = <T>(all: Iterable<Cell<T>>, isWanted: (cell: Cell<T>) => boolean): Cell<T>[] => {
  const cells: Cell<T>[] = []
  for (const cell of all) if (isWanted(cell)) cells.push(cell)
  return cells.sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** Rows are inserted, and named in hexadecimal, in the order of the cells. */
const markInserted = (cells: readonly Cell<unknown>[], inserted: readonly Row[]): void => {
  let at = 0
  for (const [key, member = ''] of inserted) {
    while (!(isHex(cells[at]!.member, member as string) && isHex(cells[at]!.key, key as string))) at++
    cells[at++]!.isInserted = true
  }
}

const isHex = (bytes: Uint8Array, text: string): boolean =>
  2 * bytes.length === text.length &&
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex') === text

interface Statements {
  readonly lock: string
  readonly load: string
  readonly upsert: string
  readonly delete: string
}

const statements = new Map<string, Statements>()

type Shape = Pick<Table<never>, 'name' | 'keys'> & {
  readonly columns: readonly Omit<Column<never>, 'encode'>[]
}

export const statementsOf = (schema: string, table: Shape): Statements => {
  const name = `${schema}.${table.name}`
  let made = statements.get(name)
  if (!made) {
    made = makeStatements(name, table)
    statements.set(name, made)
  }
  return made
}

const makeStatements = (name: string, { keys, columns }: Shape): Statements => {
  const key = keys.join(', ')
  const all = [...keys, ...columns.map(column => column.name)].join(', ')
  const types = [...keys.map((): ColumnType => 'bytea'), ...columns.map(({ type }) => type)]
  const arrays = (count: number): string =>
    types
      .slice(0, count)
      .map((type, i) => `$${i + 1}::${type}[]`)
      .join(', ')
  const changes = columns.map(column => `${column.name} = excluded.${column.name}`).join(', ')
  const first = columns[0]?.name ?? 'key'
  // Fences, as of point reads: without them a plan from the statistics of an empty table joins each of its rows.
  const rowsOf = (selected: string): string =>
    `CROSS JOIN LATERAL (SELECT ${selected} FROM ${name} AS t
       WHERE ${keys.map(column => `t.${column} = k.${column}`).join(' AND ')} LIMIT 1) AS found`
  return {
    // An update whose condition is false locks the row, and leaves it as it is.
    lock: `INSERT INTO ${name} (${all}) SELECT ${all} FROM unnest(${arrays(types.length)}) AS n (${all})
      ON CONFLICT (${key}) DO UPDATE SET ${first} = excluded.${first} WHERE false
      RETURNING ${keys.map(column => `encode(${column}, 'hex')`).join(', ')}`,
    load: `SELECT n, found.* FROM unnest(${arrays(keys.length)}) WITH ORDINALITY AS k (${key}, n)
      ${rowsOf(columns.map(column => column.name).join(', '))}`,
    upsert: `INSERT INTO ${name} (${all}) SELECT ${all} FROM unnest(${arrays(types.length)}) AS n (${all})
      ON CONFLICT (${key}) DO ${changes ? `UPDATE SET ${changes}` : 'NOTHING'}`,
    // The rows are locked, so their places stay.
    delete: `DELETE FROM ${name} WHERE ctid = ANY (ARRAY(
      SELECT found.ctid FROM unnest(${arrays(keys.length)}) AS k (${key}) ${rowsOf('ctid')}))`
  }
}
