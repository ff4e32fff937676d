/**
 * A file system on a disk that may lose its power. Names come to the disk in the order of their changes. With a
 * journal, a synced file brings its own name along with all names changed before (ext4, XFS, Btrfs, APFS); strictly
 * by POSIX, a name is durable when its directory is synced, independently of other directories.
 */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SimulatedFile } from './file.ts'
import type { Random } from './random.ts'
import type { Event } from './trace.ts'

export type Names = 'journal' | 'strict'

type Entry = SimulatedFile | Directory
type Entries = Map<string, Entry>

class Directory {
  readonly durable: Entries = new Map()
  /** The view of the processes. */
  readonly cached: Entries = new Map()
}

/** The entry under a name, or its removal. */
interface NameChange {
  readonly directory: Directory
  readonly set: readonly (readonly [name: string, entry: Entry | undefined])[]
}

const apply = (entries: Entries, { set }: NameChange): void => {
  for (const [name, entry] of set) {
    if (entry) entries.set(name, entry)
    else entries.delete(name)
  }
}

/** Files by their names. */
export type Image = ReadonlyMap<string, Uint8Array | 'directory'>

export const writeImage = (image: Image, directory: string): void => {
  mkdirSync(directory, { recursive: true })
  for (const [name, content] of image) {
    if (content === 'directory') mkdirSync(join(directory, name))
    else writeFileSync(join(directory, name), content)
  }
}

const split = (path: string): [folder: string, name: string] => {
  const at = path.lastIndexOf('/')
  return at === -1 ? ['', path] : [path.slice(0, at), path.slice(at + 1)]
}

export class Disk {
  readonly #names: Names
  readonly #random: Random
  readonly #root = new Directory()
  readonly #byInode = new Map<bigint, Entry>()
  #pending: NameChange[] = []
  /** The last change of the name of an entry. */
  readonly #named = new Map<Entry, NameChange>()

  /** Begins with the content of the directory. */
  constructor(directory: string, names: Names, random: Random) {
    this.#names = names
    this.#random = random
    this.#load(directory, this.#root)
  }

  #load(path: string, directory: Directory): void {
    this.#byInode.set(statSync(path, { bigint: true }).ino, directory)
    for (const name of readdirSync(path)) {
      const found = join(path, name)
      const isDirectory = statSync(found).isDirectory()
      const entry = isDirectory ? new Directory() : new SimulatedFile(readFileSync(found))
      directory.durable.set(name, entry)
      directory.cached.set(name, entry)
      if (entry instanceof Directory) this.#load(found, entry)
      else this.#byInode.set(statSync(found, { bigint: true }).ino, entry)
    }
  }

  apply(event: Event): void {
    switch (event.type) {
      case 'create':
        this.#create(event.file, event.name, new SimulatedFile())
        break
      case 'mkdir':
        this.#create(event.file, event.name, new Directory())
        break
      case 'write':
        this.#file(event.file).change({ at: event.at, data: event.data })
        break
      case 'truncate':
        this.#file(event.file).change({ size: event.size })
        break
      case 'sync':
        this.#sync(this.#entry(event.file), event.range)
        break
      case 'failed sync': {
        const entry = this.#entry(event.file)
        if (entry instanceof SimulatedFile) entry.failSync(this.#random, event.range)
        break
      }
      case 'link':
        this.#link(event.to, this.#at(event.from))
        break
      case 'rename':
        this.#rename(event.from, event.to)
        break
      case 'remove':
        this.#link(event.name, undefined)
    }
  }

  #entry(inode: bigint): Entry {
    const entry = this.#byInode.get(inode)
    if (!entry) throw new Error(`the trace writes to inode ${inode}, which it never opened`)
    return entry
  }

  #file(inode: bigint): SimulatedFile {
    const entry = this.#entry(inode)
    if (entry instanceof SimulatedFile) return entry
    throw new Error(`the trace writes to inode ${inode}, which is a directory`)
  }

  #directory(path: string): Directory {
    const entry = path === '' ? this.#root : this.#at(path)
    if (entry instanceof Directory) return entry
    throw new Error(`${path} is no directory`)
  }

  #at(path: string): Entry {
    const [folder, name] = split(path)
    const entry = this.#directory(folder).cached.get(name)
    if (!entry) throw new Error(`the trace names ${path}, which it never made`)
    return entry
  }

  #create(inode: bigint, name: string, entry: Entry): void {
    this.#byInode.set(inode, entry)
    this.#link(name, entry)
  }

  #link(path: string, entry: Entry | undefined): void {
    const [folder, name] = split(path)
    this.#change({ directory: this.#directory(folder), set: [[name, entry]] })
  }

  #rename(from: string, to: string): void {
    const [fromFolder, fromName] = split(from)
    const [toFolder, toName] = split(to)
    const entry = this.#at(from)
    if (fromFolder !== toFolder) {
      // Two directories, which come to the disk one by one.
      this.#change({ directory: this.#directory(toFolder), set: [[toName, entry]] })
      this.#change({ directory: this.#directory(fromFolder), set: [[fromName, undefined]] })
      return
    }
    this.#change({
      directory: this.#directory(toFolder),
      set: [
        [fromName, undefined],
        [toName, entry]
      ]
    })
  }

  #change(change: NameChange): void {
    apply(change.directory.cached, change)
    this.#pending.push(change)
    this.#named.set(change.directory, change)
    for (const [, entry] of change.set) if (entry instanceof SimulatedFile) this.#named.set(entry, change)
  }

  #sync(entry: Entry, range?: { readonly at: number; readonly size: number }): void {
    if (entry instanceof SimulatedFile) entry.sync(range)
    if (this.#names === 'journal') {
      const last = this.#pending.indexOf(this.#named.get(entry)!)
      for (const change of this.#pending.splice(0, last + 1)) apply(change.directory.durable, change)
    } else if (entry instanceof Directory) {
      for (const change of this.#pending) if (change.directory === entry) apply(entry.durable, change)
      this.#pending = this.#pending.filter(({ directory }) => directory !== entry)
    }
  }

  /** The content of a folder of the disk after a power loss. */
  crash(folder = ''): Image {
    const entries = new Map<Directory, Entries>()
    const survived = this.#survived()
    for (const change of survived) {
      const { directory } = change
      if (!entries.has(directory)) entries.set(directory, new Map(directory.durable))
      apply(entries.get(directory)!, change)
    }
    return this.#image(
      folder,
      directory => entries.get(directory) ?? directory.durable,
      file => file.crash(this.#random)
    )
  }

  /** The synced content only. */
  durable(): Image {
    return this.#image(
      '',
      directory => directory.durable,
      file => file.durable
    )
  }

  /** The view of the processes. */
  cached(): Image {
    return this.#image(
      '',
      directory => directory.cached,
      file => file.cached
    )
  }

  #survived(): NameChange[] {
    const prefix = (changes: readonly NameChange[]): NameChange[] =>
      changes.slice(0, this.#random.pick([0, changes.length, this.#random.below(changes.length + 1)]))
    if (this.#names === 'journal') return prefix(this.#pending)
    const directories = new Set(this.#pending.map(({ directory }) => directory))
    return [...directories].flatMap(each =>
      prefix(this.#pending.filter(({ directory }) => directory === each))
    )
  }

  #image(
    folder: string,
    entriesOf: (directory: Directory) => Entries,
    bytesOf: (file: SimulatedFile) => Uint8Array
  ): Image {
    const image = new Map<string, Uint8Array | 'directory'>()
    const walk = (directory: Directory, path: string): void => {
      for (const [name, entry] of entriesOf(directory)) {
        const found = path === '' ? name : `${path}/${name}`
        image.set(found, entry instanceof Directory ? 'directory' : bytesOf(entry))
        if (entry instanceof Directory) walk(entry, found)
      }
    }
    let directory: Directory | undefined = this.#root
    for (const name of folder === '' ? [] : folder.split('/')) {
      const entry: Entry | undefined = directory && entriesOf(directory).get(name)
      directory = entry instanceof Directory ? entry : undefined
    }
    if (directory) walk(directory, '')
    return image
  }
}
