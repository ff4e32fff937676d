/** Runs `inspect-process.ts` from its source, for tests and benchmarks. */
import '../../../../scripts/typescript.mjs'

await import('./inspect-process.ts')
