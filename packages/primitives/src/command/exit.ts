/** Exit codes of commands, and errors as their output. */
import { inspect } from 'node:util'
import { QuoinError } from '../error.ts'
import { printJson } from './terminal.ts'

export const EXIT = {
  ok: 0,
  /** Done, and the answer is no: unsound, no such key, damaged. */
  no: 1,
  /** The command line or a file is wrong. */
  usage: 2,
  /** A defect in the program. */
  defect: 3
} as const

export const exitHelp = (program: string): string => `Exit codes:
  0  done, and the answer is yes
  1  done, and the answer is no (a layout is unsound, a key fits nothing, a backup is damaged)
  2  the command line, a file or the place to write to is wrong
  3  a defect in ${program}`

/** Runs a command and sets the exit code of the process. An error is printed: with `json` as JSON on standard output. */
export const finish = async (
  json: boolean,
  work: () => number | Promise<number>,
  program = 'quoin'
): Promise<void> => {
  try {
    process.exitCode = await work()
  } catch (error) {
    const known = error instanceof QuoinError
    process.exitCode = known ? EXIT.usage : EXIT.defect
    if (known && json) {
      printJson({ error: { code: error.code, message: error.message, ...error.details } })
      return
    }
    const text = known
      ? `${error.message} [${error.code}]`
      : error instanceof Error
        ? inspect(error)
        : String(error)
    process.stderr.write(`${program}: ${text}\n`)
  }
}

/** Exits when the reader of standard output closes it (`… | head`), which is no failure of the command. */
export const endOnClosedOutput = (program: string): void => {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(process.exitCode ?? EXIT.ok)
    process.stderr.write(`${program}: cannot write the output: ${error.message}\n`)
    process.exit(EXIT.usage)
  })
}
