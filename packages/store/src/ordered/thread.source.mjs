/** Runs `thread.ts` from its source, for tests and benchmarks. */
import '../../../../scripts/typescript.mjs'

await import('./thread.ts')
