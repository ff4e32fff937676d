/**
 * The rows of one table that a transaction touches. They are locked in the order of their bytes, and the ones it depends on
 * are loaded; they change in memory; the difference is written.
 *
 * A name without a row is locked by inserting the row, so that other transactions which want it wait. It is inserted
 * with the value that it will have if every condition holds, which spares most rows a second write.
 */
import { bytesKey, equalBytes } from '@quoin/primitives'
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

interface Cell<T> {
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
  value: T | undefined
}

const EMPTY: Uint8Array = new Uint8Array()

export class TableRows<T> {
  readonly #table: Table<T>
  readonly #sql: Statements
  readonly #cells = new Map<string, Cell<T>>()

  constructor(schema: string, table: Table<T>) {
    this.#table = table
    this.#sql = statementsOf(schema, table)
  }

  get size(): number {
    return this.#cells.size
  }

  /** Announces a row that will be read. */
  needs(key: Uint8Array, member = EMPTY): void {
    this.#cell(key, member).isRead = true
  }

  /** Announces a row that will be written without being read. */
  writes(key: Uint8Array, member = EMPTY): void {
    this.#cell(key, member)
  }

  get hasReads(): boolean {
    for (const { isRead } of this.#cells.values()) if (isRead) return true
    return false
  }

  /** Takes the changes so far as predictions, and forgets them. */
  predict(): void {
    for (const cell of this.#cells.values()) {
      cell.predicted = cell.value
      cell.value = undefined
      cell.isChanged = false
    }
  }

  get(key: Uint8Array, member = EMPTY): T | undefined {
    return this.#cell(key, member).value
  }

  /** Undefined deletes the row. */
  put(key: Uint8Array, member: Uint8Array, value: T | undefined): void {
    const cell = this.#cell(key, member)
    cell.value = value
    cell.isChanged = true
  }

  get hasChanges(): boolean {
    for (const { isChanged } of this.#cells.values()) if (isChanged) return true
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
    const cell = this.#cell(key, member)
    if (cell.isRead) return
    cell.isRead = true
    cell.value = value
  }

  /** Locks the rows that fulfil `isWanted`, and loads the ones that are read. */
  async lock(query: Query, isWanted: (member: Uint8Array) => boolean = () => true): Promise<void> {
    const cells = inOrder([...this.#cells.values()].filter(cell => isWanted(cell.member)))
    if (cells.length === 0) return
    const inserted = await query(
      this.#sql.lock,
      this.#arraysOf(cells, ({ predicted }) => predicted ?? this.#table.blank)
    )
    for (const row of inserted) this.#named(row).isInserted = true
    const present = cells.filter(({ isInserted, isRead }) => isRead && !isInserted)
    if (present.length === 0) return
    const { length } = this.#table.keys
    for (const row of await query(this.#sql.load, this.#keysOf(present))) {
      this.#named(row).value = this.#table.valueFrom(row.slice(length))
    }
  }

  /** Writes the changes, and removes rows that only locked their names. */
  async write(query: Query): Promise<void> {
    const changed = inOrder([...this.#cells.values()].filter(cell => this.#differs(cell)))
    const present = changed.filter(({ value }) => value !== undefined)
    const absent = changed.filter(({ value }) => value === undefined)
    if (absent.length > 0) await query(this.#sql.delete, this.#keysOf(absent))
    if (present.length > 0)
      await query(
        this.#sql.upsert,
        this.#arraysOf(present, ({ value }) => value!)
      )
  }

  /** Whether the row of the table is another one than the row in memory. */
  #differs({ isInserted, isChanged, predicted, value }: Cell<T>): boolean {
    if (!isInserted || value === undefined || predicted === undefined) return isInserted || isChanged
    return this.#table.columns.some(({ encode }) => !isSame(encode(value), encode(predicted)))
  }

  #cell(key: Uint8Array, member: Uint8Array): Cell<T> {
    const id = idOf(key, member)
    let cell = this.#cells.get(id)
    if (!cell) {
      cell = {
        id,
        key,
        member,
        isRead: false,
        predicted: undefined,
        isInserted: false,
        isChanged: false,
        value: undefined
      }
      this.#cells.set(id, cell)
    }
    return cell
  }

  /** The cell of a row that begins with its primary key. */
  #named([key, member]: Row): Cell<T> {
    const isPair = this.#table.keys.length === 2
    return this.#cell(key as Uint8Array, isPair ? (member as Uint8Array) : EMPTY)
  }

  /** The columns of rows with these values. */
  #arraysOf(cells: readonly Cell<T>[], contentsOf: (cell: Cell<T>) => T): Buffer[] {
    const columns = this.#table.columns.map(({ type, encode }) =>
      binaryArray(
        type,
        cells.map(cell => encode(contentsOf(cell)))
      )
    )
    return [...this.#keysOf(cells), ...columns]
  }

  #keysOf(cells: readonly Cell<T>[]): Buffer[] {
    const keys = [
      binaryArray(
        'bytea',
        cells.map(({ key }) => key)
      )
    ]
    if (this.#table.keys.length === 2)
      keys.push(
        binaryArray(
          'bytea',
          cells.map(({ member }) => member)
        )
      )
    return keys
  }
}

const isSame = (a: ColumnValue, b: ColumnValue): boolean =>
  a === b || (a instanceof Uint8Array && b instanceof Uint8Array && equalBytes(a, b))

/** One text for both; it begins with the same characters for all members of a key. */
const idOf = (key: Uint8Array, member: Uint8Array): string =>
  `${key.length} ${bytesKey(key)}${bytesKey(member)}`

/** All transactions lock in this order, so that none waits for one that waits for it. */
const inOrder = <T>(cells: Cell<T>[]): Cell<T>[] =>
  cells.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))

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

const statementsOf = (schema: string, table: Shape): Statements => {
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
  return {
    // An update whose condition is false locks the row, and leaves it as it is.
    lock: `INSERT INTO ${name} (${all}) SELECT ${all} FROM unnest(${arrays(types.length)}) AS n (${all})
      ON CONFLICT (${key}) DO UPDATE SET ${first} = excluded.${first} WHERE false RETURNING ${key}`,
    load: `SELECT ${all} FROM unnest(${arrays(keys.length)}) AS n (${key}) JOIN ${name} USING (${key})`,
    upsert: `INSERT INTO ${name} (${all}) SELECT ${all} FROM unnest(${arrays(types.length)}) AS n (${all})
      ON CONFLICT (${key}) DO ${changes ? `UPDATE SET ${changes}` : 'NOTHING'}`,
    delete: `DELETE FROM ${name} WHERE (${key}) IN
      (SELECT ${key} FROM unnest(${arrays(keys.length)}) AS n (${key}))`
  }
}
