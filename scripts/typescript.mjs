/**
 * Runs TypeScript as it is when it is compiled: only the types are taken away. (`tsx` also gives every function its name
 * once more whenever it is made, which costs a benchmark a fifth of its time.) For `node --import`, and for threads, which
 * do not inherit it.
 */
import { register } from 'node:module'

register('./typescript-hooks.mjs', import.meta.url)
