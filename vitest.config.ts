import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'
// @ts-expect-error: a script without types.
import { sourceAliases } from './scripts/packages.mjs'

export default defineConfig({
  test: {
    include: ['{packages,apps,examples,bench,test}/**/*.test.ts'],
    // The fault simulator is preloaded by the linker of Linux.
    exclude: [...configDefaults.exclude, ...(process.platform === 'linux' ? [] : ['test/faults/**'])],
    setupFiles: ['test/seed.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Its modules name one another without extensions, which Node by itself does not understand.
    server: { deps: { inline: [/@1sat/] } },
    // Tests wait for processes and timers a third of their time: with two workers more than cores, none is idle.
    maxWorkers: availableParallelism() + 2,
    // To prove the keyspaces and to load what they stand on takes longer than most files of tests do, so files share
    // them. What a test changes that others see, it restores.
    isolate: false
  },
  resolve: { alias: sourceAliases() }
})
