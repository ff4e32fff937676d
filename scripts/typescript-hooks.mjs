/** How Node loads a module when `typescript.mjs` was imported. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'

export const load = async (url, context, next) => {
  // Plug-ins among the fixtures are compiled as those of others are.
  if (!url.startsWith('file:') || !url.endsWith('.ts') || url.includes('/fixtures/'))
    return next(url, context)
  const sourcefile = fileURLToPath(url)
  const { code } = await transform(await readFile(sourcefile, 'utf8'), {
    loader: 'ts',
    sourcefile,
    sourcemap: 'inline',
    target: 'node20'
  })
  return { format: 'module', source: code, shortCircuit: true }
}
