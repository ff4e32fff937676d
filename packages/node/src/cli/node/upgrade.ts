/** `quoin upgrade`: a store of an earlier version becomes one of this version. */
import { QuoinError } from '@quoin/primitives'
import { count, EXIT, paint, plural, print, printJson } from '@quoin/primitives/command'
import { configOf, server } from './settings.ts'
import { signals } from './shutdown-signals.ts'
import { duration } from './status.ts'

export interface UpgradeCommandOptions
  extends Readonly<Record<string, string | readonly string[] | boolean | undefined>> {}

/** Transactions that are printed because they were not taken again. */
const MAX_REFUSED = 20

export const upgrade = async (
  url: string | undefined,
  { to, rebuild, inPlace, json, ...settings }: UpgradeCommandOptions
): Promise<number> => {
  const ending = signals()
  const loaded = await configOf({
    logLevel: 'warn',
    ...(settings as Readonly<Record<string, string | readonly string[]>>),
    ...(url !== undefined && { store: url })
  })
  const { config, origins } = loaded
  const { jsonLogger, upgradeStore } = await server()
  const controller = new AbortController()
  void ending.first.then(() =>
    controller.abort(new QuoinError('ERR_STORE_CLOSED', 'interrupted; the same command goes on from here'))
  )
  const progress = progressLine(process.stderr.isTTY === true && json !== true)
  try {
    const done = await upgradeStore(config.store, {
      config,
      isChainGiven: origins.get('chain') !== 'the default',
      to: to as string | undefined,
      inPlace: inPlace === true,
      rebuild: rebuild === true,
      logger: jsonLogger({ level: config.logLevel }),
      signal: controller.signal,
      onProgress: progress.report
    })
    progress.clear()
    if (json) printJson(done)
    else report(done)
    return done.rebuild && done.rebuild.refused.length > 0 ? EXIT.no : EXIT.ok
  } finally {
    progress.clear()
    ending.end()
  }
}

const report = ({ store, steps, before, rebuild }: Awaited<ReturnType<UpgradeFunction>>): void => {
  for (const step of steps) print(`  ${paint('green', 'done')}  ${step}`)
  if (rebuild) {
    print(`        ${plural(rebuild.transactions, 'transaction')}, ${count(rebuild.refused.length)} refused`)
    for (const { txid, code, reason } of rebuild.refused.slice(0, MAX_REFUSED))
      print(`        ${txid}  ${reason} [${code}]`)
  }
  if (steps.length === 0) print(`${store} is up to date`)
  else {
    print(`${store} is upgraded`)
    if (before !== undefined)
      print(`The store as it was is in ${before}. Delete it when all is well: quoin verify ${store}`)
  }
}

type UpgradeFunction = Awaited<ReturnType<typeof server>>['upgradeStore']

const EVERY_MS = 200

/** The step, how far it is, and the time that is left where the total is known. */
const progressLine = (isShown: boolean) => {
  let current = ''
  let began = 0
  let shown = 0
  const clear = (): void => {
    if (shown > 0) process.stderr.write('\r\u001b[K')
    shown = 0
  }
  return {
    report: (step: string, done: number, total: number | undefined): void => {
      const now = performance.now()
      if (step !== current) [current, began] = [step, now]
      if (!isShown || now - shown < EVERY_MS) return
      shown = now
      const left =
        total === undefined
          ? ''
          : `, ${duration(((now - began) / 1000) * (total / Math.max(done, 1) - 1))} left`
      const of = total === undefined ? '' : ` of ${count(total)}`
      process.stderr.write(`\r\u001b[K${step}: ${count(done)}${of}${left}`)
    },
    clear
  }
}
