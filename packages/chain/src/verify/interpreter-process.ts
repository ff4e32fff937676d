/** Process of `interpreter.ts`: runs each job with `Spend` of @bsv/sdk, as `Transaction.verify` does. */
import LockingScript from '@bsv/sdk/script/LockingScript'
import Spend from '@bsv/sdk/script/Spend'
import Transaction from '@bsv/sdk/transaction/Transaction'
import type { InterpreterResponse, Job } from './interpreter.ts'

const run = ({ raw, spends }: Job): InterpreterResponse => {
  // The type asks for an array of numbers; bytes work.
  const { version, inputs, outputs, lockTime } = Transaction.fromBinary(raw as unknown as number[])
  for (const { input: index, satoshis, script } of spends) {
    const { sourceTXID, sourceOutputIndex, unlockingScript, sequence } = inputs[index]!
    try {
      const isValid = new Spend({
        sourceTXID: sourceTXID!,
        sourceOutputIndex,
        sourceSatoshis: satoshis,
        lockingScript: LockingScript.fromBinary(script as unknown as number[]),
        transactionVersion: version,
        otherInputs: inputs.filter((_, i) => i !== index),
        outputs,
        inputIndex: index,
        unlockingScript: unlockingScript!,
        inputSequence: sequence!,
        lockTime
      }).validate()
      if (!isValid) return { failed: { input: index, reason: 'the script does not hold' } }
    } catch (error) {
      return { failed: { input: index, reason: firstLine(error) } }
    }
  }
  return {}
}

/** Further lines hold the whole stack of the script. */
const firstLine = (error: unknown): string =>
  String((error as Error).message)
    .split('\n', 1)[0]!
    .replace(/^Script evaluation error: /, '')
    .slice(0, 200)

const answer = (message: InterpreterResponse | 'ready'): void => void process.send?.(message)

process.on('message', (job: Job) => answer(run(job)))
// The parent has ended.
process.once('disconnect', () => process.exit())
answer('ready')
