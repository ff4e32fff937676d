/** Assertions that are evidence for rows of the conformance table (docs/brc-35.md). */
import { expect } from 'vitest'

/**
 * `expect`, for an assertion that shows rows of the table: `shows('3.2-1 B-1', script.chunks[1].op).toBe(OP_CHECKSIG)`. The
 * table lists the tests of a row by these assertions; a title alone is no evidence.
 */
export const shows = <T>(rows: string, actual: T) => expect<T>(actual, `BRC-35 ${rows}`)
