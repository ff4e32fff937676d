/** The costs of another process and of a disk, as Linux counts them (proc(5)). */
import { existsSync, readFileSync, statSync } from 'node:fs'

const MILLISECONDS_PER_TICK = 10
const SECTOR = 512

/** Milliseconds of processor time of a process, and of its children that have ended; none for a process that is gone. */
export const processorOf = (pid: number): { readonly self: number; readonly ended: number } => {
  const file = `/proc/${pid}/stat`
  if (!existsSync(file)) return { self: 0, ended: 0 }
  const text = readFileSync(file, 'utf8')
  // utime, stime, cutime and cstime are fields 14 to 17; the name of the command may contain spaces.
  const [utime, stime, cutime, cstime] = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(field => Number(field) * MILLISECONDS_PER_TICK) as [number, number, number, number]
  return { self: utime + stime, ended: cutime + cstime }
}

/** Resident megabytes. */
export const residentOf = (pid: number): number => {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!
  return Math.round(Number(kilobytes) / 1024)
}

/** Bytes that a process has sent to storage. */
export const writtenBy = (pid: number): number =>
  Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))![1])

/** Bytes written to the disk of a path since the system began, by all processes; `null` where no disk is counted. */
export const writtenToDiskOf = (path: string): number | null => {
  const { dev } = statSync(path)
  const [major, minor] = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)]
  const lines = readFileSync('/proc/diskstats', 'utf8').split('\n')
  const fields = lines
    .map(line => line.trim().split(/\s+/))
    .find(([first, second]) => first === `${major}` && second === `${minor}`)
  return fields ? Number(fields[9]) * SECTOR : null
}
