/**
 * Runs TypeScript as it is when it is compiled: only the types are taken away. (`tsx` also gives every function its name
 * once more whenever it is made, which what is shipped does not do.) For `node --import`, and for threads, which do not
 * inherit it.
 */
import { register } from 'node:module'

register('./typescript-hooks.mjs', import.meta.url)
