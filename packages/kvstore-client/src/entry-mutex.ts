/** Writes of one entry are serialised (BRC-35 §2.3) in the whole process, whichever store object they go through. */
import { KeyedMutex } from '@quoin/primitives'

export const entryMutex = new KeyedMutex()
