/** Tables of numbers under `fixtures`: lists of rows of text, with the sources they are taken from. */
import { readFileSync } from 'node:fs'

interface Table {
  /** The rows of a table, of which there are so many: one that is lost is noticed. */
  rows(name: string, count: number): string[][]
  list(name: string): string[]
}

export const table = (file: string): Table => {
  const all: Record<string, unknown> = JSON.parse(
    readFileSync(new URL(`./fixtures/${file}`, import.meta.url), 'utf8')
  )
  if (!Array.isArray(all['sources'])) throw new Error(`${file} names no sources`)
  return {
    rows: (name, count) => {
      const rows = all[name] as string[][]
      if (rows?.length !== count) throw new Error(`${file} has ${rows?.length} rows of ${name}, not ${count}`)
      return rows
    },
    list: name => all[name] as string[]
  }
}
