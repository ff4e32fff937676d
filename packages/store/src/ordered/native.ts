/**
 * Which binary of lmdb runs. scripts/native.mjs compiles one with optimisation; the one that lmdb's package comes
 * with is a debug build and slow, so benchmarks and bug reports name the build.
 */
import { createRequire } from 'node:module'
import * as lmdb from 'lmdb'

/** Says whether the lmdb of this process was compiled with optimisation, or came prebuilt and without. */
export const lmdbBuild = (): 'optimised' | 'prebuilt' => {
  // Asked of the module that is loaded, as the file that would be loaded now may be newer than the process.
  const { nativeAddon } = lmdb as { nativeAddon?: unknown }
  const modules = Object.values(createRequire(import.meta.url).cache)
  const binary = modules.find(module => module !== undefined && module.exports === nativeAddon)?.filename
  return /[\\/]build[\\/]Release[\\/]lmdb\.node$/.test(binary ?? '') ? 'optimised' : 'prebuilt'
}
