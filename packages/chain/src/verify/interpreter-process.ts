/** The process of `interpreter.ts`: gives every job to `Spend` of @bsv/sdk as its `Transaction.verify` does. */
import LockingScript from '@bsv/sdk/script/LockingScript'
import Spend from '@bsv/sdk/script/Spend'
import Transaction from '@bsv/sdk/transaction/Transaction'
import type { Answer, Job } from './interpreter.ts'

const run = ({ raw, spends }: Job): Answer => {
  // Typed for arrays of numbers, and as content with bytes.
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

/** What follows has the whole stack in it. */
const firstLine = (error: unknown): string =>
  String((error as Error).message)
    .split('\n', 1)[0]!
    .replace(/^Script evaluation error: /, '')
    .slice(0, 200)

const answer = (message: Answer | 'ready'): void => void process.send?.(message)

process.on('message', (job: Job) => answer(run(job)))
// Whoever wanted answers is gone.
process.once('disconnect', () => process.exit())
answer('ready')
