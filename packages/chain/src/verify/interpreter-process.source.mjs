/** Runs `interpreter-process.ts` from its source, for tests and benchmarks. */
import '../../../../scripts/typescript.mjs'

await import('./interpreter-process.ts')
