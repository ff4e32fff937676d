/** `quoin submit`: a transaction to topics of a node. */
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { beefOf } from '@quoin/chain'
import type { Steak } from '@quoin/overlay'
import { QuoinError, reasonOf } from '@quoin/primitives'
import { EXIT, paint, print, printJson } from '@quoin/primitives/command'
import { askJson } from './http.ts'

export interface SubmitOptions {
  readonly topic: readonly string[]
  readonly url: string
  readonly json?: boolean
}

export const submit = async (file: string, { topic, url, json = false }: SubmitOptions): Promise<number> => {
  const beef = beefOf(await read(file))
  const steak = await askJson<Steak>(url, '/submit', beef, { 'x-topics': JSON.stringify(topic) })
  const answers = Object.entries(steak)
  const did = answers.filter(
    ([, { outputsToAdmit, coinsToRetain, coinsRemoved = [] }]) =>
      outputsToAdmit.length + coinsToRetain.length + coinsRemoved.length > 0
  )
  if (json) printJson(steak)
  else for (const [name, answer] of answers) print(`${paint('bold', name)}  ${describe(answer)}`)
  const failed = answers.some(([, { error }]) => error)
  return did.length > 0 && !failed ? EXIT.ok : EXIT.no
}

const describe = ({ outputsToAdmit, coinsToRetain, coinsRemoved = [], error }: Steak[string]): string => {
  if (error) return `${paint('red', 'failed')}: ${error.message} [${error.code}]`
  const parts = [
    ['admitted outputs', outputsToAdmit],
    ['retained inputs', coinsToRetain],
    ['removed inputs', coinsRemoved]
  ] as const
  const said = parts.filter(([, list]) => list.length > 0).map(([name, list]) => `${name} ${list.join(', ')}`)
  return said.join('; ') || paint('yellow', 'took nothing of it')
}

const read = async (file: string): Promise<Uint8Array> => {
  if (file === '-') return buffer(process.stdin)
  try {
    return await readFile(file)
  } catch (error) {
    throw new QuoinError('ERR_FILE', `cannot read ${file}: ${reasonOf(error)}`, { path: file, cause: error })
  }
}
