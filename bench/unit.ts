/** The units of a case, and for each whether a lower or a higher number is better. */

type Scale = {
  readonly better: 'lower' | 'higher'
  readonly fromNanoseconds: (perOp: number) => number
}

/** Units of time. */
const timeUnits = {
  'ns/op': { better: 'lower', fromNanoseconds: perOp => perOp },
  'us/op': { better: 'lower', fromNanoseconds: perOp => perOp / 1e3 },
  'ms/op': { better: 'lower', fromNanoseconds: perOp => perOp / 1e6 },
  'ops/s': { better: 'higher', fromNanoseconds: perOp => 1e9 / perOp }
} satisfies Record<string, Scale>

const units = {
  ...timeUnits,
  'B/op': { better: 'lower' },
  MB: { better: 'lower' },
  /** Multiples of the processor time of one signature verification, measured in the same run. */
  verifications: { better: 'lower' }
} satisfies Record<string, Pick<Scale, 'better'>>

export type TimeUnit = keyof typeof timeUnits
export type Unit = keyof typeof units

export function fromNanoseconds(unit: TimeUnit, perOp: number): number {
  return timeUnits[unit].fromNanoseconds(perOp)
}

/** The factor between our number and the peer's: above 1 ours is better, whatever the direction of the unit. */
export function ratio(unit: Unit, ours: number, peer: number): number {
  return units[unit].better === 'lower' ? peer / ours : ours / peer
}
