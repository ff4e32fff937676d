/** Runs `main.ts` from its source, for tests and benchmarks. */
import '../../../../../scripts/typescript.mjs'

await import('./main.ts')
