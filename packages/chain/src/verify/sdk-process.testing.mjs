/** What @bsv/sdk says to a BEEF, in a process of its own: it believes counts, and may loop until memory is full. */
import { Transaction } from '@bsv/sdk'

const judge = async ({ beef, roots, height }) => {
  const tracker = {
    isValidRootForHeight: async (root, at) => roots.get(at) === root,
    currentHeight: async () => height
  }
  try {
    return await Transaction.fromBEEF(beef).verify(tracker)
  } catch {
    return false
  }
}

process.on('message', async job => process.send(await judge(job)))
process.once('disconnect', () => process.exit())
process.send('ready')
