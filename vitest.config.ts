import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'bench/**/*.test.ts', 'test/**/*.test.ts', 'explorer/**/*.test.ts'],
    // The fault simulator is preloaded by the linker of Linux.
    exclude: [...configDefaults.exclude, ...(process.platform === 'linux' ? [] : ['test/faults/**'])],
    setupFiles: ['test/seed.ts'],
    testTimeout: 60_000,
    // Its modules name one another without extensions, which Node by itself does not understand.
    server: { deps: { inline: [/@1sat/] } },
    // Of two cores vitest would leave one idle.
    maxWorkers: '100%',
    // To prove the keyspaces and to load what they stand on takes longer than most files of tests do, so files share
    // them. What a test changes that others see, it restores.
    isolate: false
  },
  resolve: {
    alias: [{ find: /^quoin\/([\w/]+)$/, replacement: source('./src/$1/index.ts') }]
  }
})
