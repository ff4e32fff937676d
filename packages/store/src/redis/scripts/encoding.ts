/** The encoding of batches (`operations.ts`) for Lua. */
import { ARGUMENTS, ENCODING, STEP_NAMES, STEPS, type StepName } from '../../operations.ts'

export const CODE = Object.fromEntries(STEP_NAMES.map(name => [name, STEPS[name].code])) as {
  readonly [Name in StepName]: number
}

/** Reads the arguments of a step, and the position after them. Scripts call struct.unpack `unpack_`, and the batch `B`. */
export const unpack = (name: StepName, at = 'at + 1'): string => {
  const format = STEPS[name].args.map(each => (ENCODING[ARGUMENTS[each]] === 'bytes' ? 'I4c0' : 'd')).join('')
  return `unpack_('<${format}', B, ${at})`
}
