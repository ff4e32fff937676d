/** Tables and colours for people on a terminal, JSON for programs. */

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36 } as const
export type Colour = keyof typeof CODES

/** Colours only on a terminal, and never when NO_COLOR is set (no-color.org). */
const coloured = (): boolean => process.stdout.isTTY === true && !process.env['NO_COLOR']

export const paint = (colour: Colour, text: string): string =>
  coloured() ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text

export const print = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

export const printJson = (data: unknown): void => {
  print(
    JSON.stringify(data, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value), 2)
  )
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters.
const visible = (text: string): number => text.replace(/\u001b\[\d+m/g, '').length

/** Columns as wide as their widest cell, two spaces apart. */
export const table = (rows: readonly (readonly string[])[]): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map(row => visible(row[column] ?? ''))))
  return rows
    .map(row =>
      row
        .map((cell, i) => cell + ' '.repeat(widths[i]! - visible(cell)))
        .join('  ')
        .trimEnd()
    )
    .join('\n')
}

/** 1234567 as 1,234,567. */
export const count = (value: number): string => value.toLocaleString('en-US')

/** In the unit that leaves one to three digits before the point. */
export const bytes = (size: number): string => {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  const power = Math.min(Math.floor(Math.log10(Math.max(size, 1)) / 3), units.length - 1)
  return power === 0 ? plural(size, 'byte') : `${(size / 1000 ** power).toFixed(1)} ${units[power]}`
}

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

export const milliseconds = (time: number): string => `${time < 10 ? time.toFixed(1) : Math.round(time)} ms`
