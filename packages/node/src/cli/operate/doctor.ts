/** `quoin doctor`: checks what a node needs, and what its configuration names. */
import { QuoinError } from '@quoin/primitives'
import { EXIT, plural, print, printJson } from '@quoin/primitives/command'
import { configFile } from '../node/deployment.ts'
import { configOf } from '../node/settings.ts'
import { BROADCAST_CHECKS } from './check-broadcast.ts'
import { MACHINE_CHECKS } from './check-machine.ts'
import { NETWORK_CHECKS } from './check-network.ts'
import { NODE_CHECKS } from './check-node.ts'
import { STORE_CHECKS } from './check-store.ts'
import { type Diagnosis, ok, printDiagnoses, runChecks } from './diagnosis.ts'

export type DoctorOptions = Readonly<Record<string, string | readonly string[] | undefined>> & {
  readonly uri?: string
}

export const doctor = async (
  file: string | undefined,
  options: DoctorOptions,
  json: boolean
): Promise<number> => {
  const diagnoses = await diagnose(file, options)
  const count = (status: Diagnosis['status']): number =>
    diagnoses.filter(each => each.status === status).length
  const [errors, warnings] = [count('error'), count('warning')]
  if (json) printJson({ healthy: errors === 0, errors, warnings, diagnoses })
  else {
    printDiagnoses(diagnoses)
    print(`${plural(errors, 'error')}, ${plural(warnings, 'warning')}`)
  }
  return errors === 0 ? EXIT.ok : EXIT.no
}

const diagnose = async (file: string | undefined, options: DoctorOptions): Promise<Diagnosis[]> => {
  const { config: settings, deployment } = configFile(file, options['config'] as string | undefined)
  try {
    const { config, origins } = await configOf({ ...options, config: settings }, {}, deployment)
    const given = [...origins.values()].filter(each => each !== 'the default').length
    const checks = [
      ...MACHINE_CHECKS,
      ...STORE_CHECKS,
      ...NETWORK_CHECKS,
      ...BROADCAST_CHECKS,
      ...NODE_CHECKS
    ]
    return [
      ok('configuration', `${plural(given, 'setting')} beside the defaults`),
      ...(await runChecks(checks, { config, uri: options.uri }))
    ]
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    const remedy = 'correct it; quoin config shows where each setting comes from'
    return [{ check: 'configuration', status: 'error', message: error.message, remedy }]
  }
}
