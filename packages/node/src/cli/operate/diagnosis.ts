/** What a check of a node's surroundings found, and how a command prints it. */
import { reasonOf, withTimeout } from '@quoin/primitives'
import { type Colour, paint, print } from '@quoin/primitives/command'
import type { Config } from '../../server/settings.ts'

export interface Diagnosis {
  /** `clock`, `headers`, `peer https://…`. */
  readonly check: string
  /** `warning`: the node runs, and something is worth a look. `error`: it does not run, or not as configured. */
  readonly status: 'ok' | 'warning' | 'error'
  readonly message: string
  /** The action that mends it. */
  readonly remedy?: string
}

/** A group of checks. One that throws, or hangs, is an error by the name of the group. */
export interface Check {
  readonly name: string
  run(subject: Subject): Promise<readonly Diagnosis[]>
}

/** What is checked. */
export interface Subject {
  readonly config: Config
  /** The public address of the node, where it is to be found by others. */
  readonly uri?: string | undefined
}

const CHECK_MS = 20_000

export const runChecks = async (checks: readonly Check[], subject: Subject): Promise<Diagnosis[]> =>
  (await Promise.all(checks.map(check => runCheck(check, subject)))).flat()

const runCheck = async ({ name, run }: Check, subject: Subject): Promise<readonly Diagnosis[]> => {
  const failed = (message: string): Diagnosis[] => [{ check: name, status: 'error', message }]
  try {
    return await withTimeout(run(subject), CHECK_MS, () => failed(`no answer within ${CHECK_MS / 1000} s`))
  } catch (error) {
    return failed(reasonOf(error))
  }
}

export const ok = (check: string, message: string): Diagnosis => ({ check, status: 'ok', message })
export const warning = (check: string, message: string, remedy: string): Diagnosis => ({
  check,
  status: 'warning',
  message,
  remedy
})
export const failure = (check: string, message: string, remedy: string): Diagnosis => ({
  check,
  status: 'error',
  message,
  remedy
})

const COLOURS: Readonly<Record<Diagnosis['status'], Colour>> = {
  ok: 'green',
  warning: 'yellow',
  error: 'red'
}

export const printDiagnoses = (diagnoses: readonly Diagnosis[]): void => {
  for (const { check, status, message, remedy } of diagnoses) {
    print(`${paint(COLOURS[status], status.padEnd(7))}  ${check}: ${message}`)
    if (remedy !== undefined) print(`         ${remedy}`)
  }
}
