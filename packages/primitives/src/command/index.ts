/** Output, colours and exit codes of commands. */
export { EXIT, exitHelp, finish } from './exit.ts'
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
