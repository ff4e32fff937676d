/** Exit codes, and how an error reaches the person or the program that ran the command. */
import { QuoinError } from '@quoin/primitives'
import { printJson } from './terminal.ts'

export const EXIT = {
  ok: 0,
  /** The question was answered, and the answer is no: unsound, no such key, damaged. */
  no: 1,
  /** The question was wrong: usage, a malformed file. */
  usage: 2,
  /** A defect in quoin. */
  defect: 3
} as const

export const EXIT_HELP = `Exit codes:
  0  done, and the answer is yes
  1  done, and the answer is no (a layout is unsound, a key fits nothing, a backup is damaged)
  2  the command line, a file or the place to write to is wrong
  3  a defect in quoin`

/** Runs a command: its exit code, or its error in words (as JSON on standard output when that was asked for). */
export const finish = async (json: boolean, work: () => number | Promise<number>): Promise<void> => {
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
        ? error.stack
        : String(error)
    process.stderr.write(`quoin: ${text}\n`)
  }
}
