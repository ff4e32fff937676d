/** Builds the explorer into the package of the node: files of its own only, with names that contain their hashes. */
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
// @ts-expect-error: a script without types.
import { sourceAliases } from '../../scripts/packages.mjs'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // Under any path of a host: the node fills in how far the page is below it.
  base: './',
  publicDir: false,
  resolve: { alias: sourceAliases() },
  build: {
    outDir: fileURLToPath(new URL('../../packages/node/dist/explorer', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    // The page's policy allows no data: URLs in styles and scripts, and there is little to gain.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false
  },
  worker: { format: 'es' },
  // For development: `vite apps/explorer` beside a node on port 8080.
  server: {
    proxy: Object.fromEntries(
      [
        '/status',
        '/health',
        '/live',
        '/txo',
        '/beef',
        '/why',
        '/keyspace',
        '/kv',
        '/1sat',
        '/liquidity',
        '/admin',
        '/docs',
        '/openapi.json'
      ].map(path => [path, 'http://127.0.0.1:8080'])
    )
  }
})
