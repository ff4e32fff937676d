/** The commands of the key space package, for programs that offer them on keyspaces of their own. */
export { type CommandOptions, type KeyspaceCommand, keyspaceCommands } from './commands.ts'
export type { KeyspaceSource, LoadedKeyspaces } from './source.ts'
