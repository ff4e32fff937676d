/** Output, colours and exit codes of commands. */
export { EXIT, endOnClosedOutput, exitHelp, finish } from './exit.ts'
export {
  bytes,
  type Colour,
  count,
  milliseconds,
  paint,
  plural,
  print,
  printJson,
  table
} from './terminal.ts'
