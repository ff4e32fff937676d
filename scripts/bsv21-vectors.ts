/** `npm run vectors`: writes the test vectors of the BSV21 rules for implementations of anybody. */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { VECTORS_FILE, vectorText } from '../packages/bsv21/src/vectors/document.testing.ts'

writeFileSync(fileURLToPath(new URL(`../${VECTORS_FILE}`, import.meta.url)), vectorText())
