/** Runs `signature-thread.ts` from its source, for tests and benchmarks. */
import { register } from 'tsx/esm/api'

register()
await import('./signature-thread.ts')
