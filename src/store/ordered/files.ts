/** Files that are written in place, synchronously. */
import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'

/** Makes the file if there is none, and leaves what is in it. */
export const openForWriting = (path: string): number => openSync(path, constants.O_RDWR | constants.O_CREAT)

/** The file, or so much of its beginning; undefined where there is none. */
export const readIfThere = (path: string, most = Number.POSITIVE_INFINITY): Uint8Array | undefined => {
  let descriptor: number
  try {
    descriptor = openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const bytes = new Uint8Array(Math.min(most, fstatSync(descriptor).size))
    let read = 0
    while (read < bytes.length) {
      const more = readSync(descriptor, bytes, read, bytes.length - read, read)
      if (more === 0) break
      read += more
    }
    return bytes.subarray(0, read)
  } finally {
    closeSync(descriptor)
  }
}

/** The system may write a part only; what it says to the rest tells why. */
export const writeWhole = (descriptor: number, bytes: Uint8Array, position: number): void => {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(descriptor, bytes, done, bytes.length - done, position + done)
  }
}

/** Which files a directory has is on the disk when this returns. */
export const syncNames = (directory: string): void => {
  const descriptor = openSync(directory, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
