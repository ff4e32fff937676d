/** LevelDB as all its users open it. */
import { ClassicLevel } from 'classic-level'
import { checkSchema, schemaRow } from './schema.ts'

export type Handle = ClassicLevel<Uint8Array, Uint8Array>

export const openHandle = async (path: string): Promise<Handle> => {
  const handle: Handle = new ClassicLevel(path, {
    keyEncoding: 'view',
    valueEncoding: 'view',
    multithreading: true,
    cacheSize: 256 * 1024 * 1024,
    // It would take more processor time than the bytes it saves are worth: keys share their beginnings already.
    compression: false,
    writeBufferSize: 64 * 1024 * 1024,
    maxFileSize: 16 * 1024 * 1024
  } as never)
  await handle.open()
  return handle
}

/** Of a database that is new: undefined. */
export const schemaOf = async (path: string, handle: Handle): Promise<number | undefined> => {
  const [first] = await handle.keys({ limit: 1 }).all()
  return checkSchema('level', path, handle.getSync(schemaRow.key), () => first === undefined)
}
