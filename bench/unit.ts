/** The units a case can be reported in, and for each whether a lower or a higher number is better. */

type Scale = {
  readonly better: 'lower' | 'higher'
  readonly fromNanoseconds: (perOp: number) => number
}

/** What works are timed in. */
const timeUnits = {
  'ns/op': { better: 'lower', fromNanoseconds: perOp => perOp },
  'us/op': { better: 'lower', fromNanoseconds: perOp => perOp / 1e3 },
  'ms/op': { better: 'lower', fromNanoseconds: perOp => perOp / 1e6 },
  'ops/s': { better: 'higher', fromNanoseconds: perOp => 1e9 / perOp }
} satisfies Record<string, Scale>

const units = {
  ...timeUnits,
  'B/op': { better: 'lower' },
  MB: { better: 'lower' }
} satisfies Record<string, Pick<Scale, 'better'>>

export type TimeUnit = keyof typeof timeUnits
export type Unit = keyof typeof units

export function fromNanoseconds(unit: TimeUnit, perOp: number): number {
  return timeUnits[unit].fromNanoseconds(perOp)
}

/** How many times better ours is than the peer: above 1 ours wins, whatever the direction of the unit. */
export function ratio(unit: Unit, ours: number, peer: number): number {
  return units[unit].better === 'lower' ? peer / ours : ours / peer
}
