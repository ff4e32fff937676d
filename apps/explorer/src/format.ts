/** Numbers, times and names as text for people. */
const whole = new Intl.NumberFormat('en')

export const count = (value: number | bigint): string => whole.format(value)

/** A whole number of any length, given as text. */
export const digits = (text: string): string => (/^\d+$/.test(text) ? count(BigInt(text)) : text)

/** With the decimals of a token: `1234567`, 2 → `12,345.67`. */
export const decimals = (text: string, places: number): string => {
  if (!/^\d+$/.test(text)) return text
  const padded = text.padStart(places + 1, '0')
  const integral = count(BigInt(padded.slice(0, padded.length - places)))
  const fraction = places === 0 ? '' : padded.slice(-places).replace(/0+$/, '')
  return fraction === '' ? integral : `${integral}.${fraction}`
}

/** A decimal of many places with six of them, or as many as a nonzero digit needs. */
export const rounded = (text: string, places = 6): string => {
  const value = Number(text)
  if (!Number.isFinite(value)) return text
  if (value !== 0 && Math.abs(value) < 10 ** -places) return value.toPrecision(3)
  return new Intl.NumberFormat('en', { maximumFractionDigits: places }).format(value)
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB']

export const bytes = (value: number): string => {
  let unit = 0
  let rest = value
  while (rest >= 1000 && unit < UNITS.length - 1) {
    rest /= 1000
    unit++
  }
  return `${unit === 0 ? rest : rest.toFixed(rest < 10 ? 1 : 0)} ${UNITS[unit]}`
}

/** The first and the last digits of a long name. */
export const short = (name: string, shown = 8): string =>
  name.length <= 2 * shown + 1 ? name : `${name.slice(0, shown)}…${name.slice(-shown)}`

/** `txid.vout`, shortened before the output number. */
export const shortOutpoint = (outpoint: string): string => {
  const [, txid, rest] = /^([0-9a-f]{64})(.+)$/.exec(outpoint) ?? []
  return txid ? `${short(txid)}${rest}` : short(outpoint)
}

const AGES: readonly (readonly [seconds: number, unit: Intl.RelativeTimeFormatUnit])[] = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second']
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

export const ago = (unixSeconds: number, now = Date.now() / 1000): string => {
  const age = Math.max(0, now - unixSeconds)
  const [seconds, unit] = AGES.find(([each]) => age >= each) ?? [1, 'second']
  return relative.format(-Math.floor(age / seconds), unit)
}

export const duration = (milliseconds: number): string => {
  const [seconds, unit] = AGES.find(([each]) => milliseconds / 1000 >= each) ?? [1, 'second']
  const amount = Math.floor(milliseconds / 1000 / seconds)
  return `${count(amount)} ${unit}${amount === 1 ? '' : 's'}`
}

/** Scores are heights when mined and unix seconds when not; no height comes near. */
const FIRST_TIME = 500_000_000

export const heightOf = (score: number): number | undefined =>
  score < FIRST_TIME ? Math.floor(score) : undefined

/** `txid.vout`, `txid_vout`, `txid:vout` and `txidivout` as `txid.vout`; undefined when malformed. */
export const outpointOf = (text: string): { readonly txid: string; readonly vout: number } | undefined => {
  const [, txid, vout] = /^([0-9a-f]{64})[._:i](0|[1-9]\d{0,9})$/i.exec(text) ?? []
  return txid && Number(vout) <= 0xffffffff ? { txid: txid.toLowerCase(), vout: Number(vout) } : undefined
}
