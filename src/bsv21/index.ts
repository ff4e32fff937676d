/** The BSV21 token pipeline. */
export { bsv21, bsv21Events } from './keys.ts'
