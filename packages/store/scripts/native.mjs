/**
 * Compiles lmdb where it is installed. The binaries that its package comes with are debug builds (`-O3 -O0`: the last
 * one counts) and slow; its sources, compiled by node-gyp with two repairs, are `-O3` throughout. lmdb's loader takes
 * build/Release before any prebuilt binary, so a file there is all that is needed.
 *
 * Runs after `npm install`, and by hand: `node node_modules/@quoin/store/scripts/native.mjs`. An installation never fails
 * because of it. `QUOIN_LMDB=prebuilt` keeps, or goes back to, the prebuilt binary.
 */
import { spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Faults of lmdb's sources that take the process down when a file cannot be written. A text that is not there stays. */
const REPAIRS = [
  {
    // The message of a write that failed is up to 130 bytes long.
    file: 'dependencies/lmdb/libraries/liblmdb/mdb.c',
    from: 'last_error = malloc(100);',
    to: 'last_error = malloc(1000);'
  },
  {
    // Closing the environment, which follows unless it is shared, deletes it again.
    file: 'src/env.cpp',
    from: '\t\tdelete extended_env;\n\t\t#endif\n\t\tif (rc == EXISTING_ENV_FOUND) {',
    to: '\t\tif (rc == EXISTING_ENV_FOUND) delete extended_env;\n\t\t#endif\n\t\tif (rc == EXISTING_ENV_FOUND) {'
  }
]

const DOWNLOAD_MS = 60_000
const COMPILE_MS = 600_000
const VERIFY_MS = 60_000
/** What lmdb's loader obeys instead of the order above. */
const { LMDB_PREBUILD: _, PREBUILDS_ONLY: __, ...environment } = process.env

const say = line => process.stdout.write(`quoin: ${line}\n`)
const remove = path => rmSync(path, { recursive: true, force: true })
const read = path => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** Where lmdb is installed for this package: beside it, or above it when it is a dependency itself. */
const findLmdb = () => {
  let entry
  try {
    entry = import.meta.resolve('lmdb')
  } catch {
    return undefined
  }
  for (let root = dirname(fileURLToPath(entry)); dirname(root) !== root; root = dirname(root)) {
    const { name, version } = JSON.parse(read(join(root, 'package.json')) ?? '{}')
    if (name === 'lmdb') return { entry, root, version }
  }
  return undefined
}

const onPath = name =>
  (environment.PATH ?? '')
    .split(delimiter)
    .map(directory => join(directory, name))
    .find(existsSync)

/** The first of these commands that runs. */
const working = commands =>
  commands.find(command => command && spawnSync(`${command} --version`, { shell: true }).status === 0)

const missingTools = () =>
  Object.entries({
    'C++ compiler': [environment.CXX ?? 'c++', 'g++', 'clang++'],
    make: [environment.MAKE ?? 'make', 'gmake'],
    python3: [environment.npm_config_python ?? environment.PYTHON ?? 'python3', 'python3']
  })
    .filter(([, commands]) => !working(commands))
    .map(([tool]) => tool)

/** npm names its node-gyp to the scripts that it runs; otherwise it is in npm's folder, or a command of its own. */
const findNodeGyp = () => {
  const npm = onPath('npm')
  const script = [
    environment.npm_config_node_gyp,
    npm && join(dirname(realpathSync(npm)), '../node_modules/node-gyp/bin/node-gyp.js'),
    join(dirname(process.execPath), '../lib/node_modules/npm/node_modules/node-gyp/bin/node-gyp.js')
  ].find(path => path && existsSync(path))
  if (script) return [process.execPath, script]
  const command = onPath('node-gyp')
  return command && [command]
}

/** A folder with the headers of this very Node, so that none are downloaded. */
const findHeaders = () =>
  [environment.npm_config_nodedir, dirname(dirname(realpathSync(process.execPath)))].find(prefix => {
    const versions = prefix && read(join(prefix, 'include/node/node_version.h'))
    const part = name => versions?.match(new RegExp(`#define NODE_${name}_VERSION (\\d+)`))?.[1]
    return process.versions.node === `${part('MAJOR')}.${part('MINOR')}.${part('PATCH')}`
  })

/** The line of a build's output that says what went wrong. */
const reasonIn = output =>
  (
    output.match(/^.*\berror: .*$/m)?.[0] ??
    output.match(/^gyp ERR! stack (.*)$/m)?.[1] ??
    output.trim().split('\n').at(-1)
  ).trim()

/** Runs a command in a process group of its own, so that a limit or a Ctrl-C ends the compilers too. */
const run = ([command, ...args], { cwd, env, limit, onSignal }) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    let late = false
    const end = () => {
      try {
        process.kill(-child.pid, 'SIGKILL')
      } catch {
        // All of them have ended already.
      }
    }
    const timer = setTimeout(() => {
      late = true
      end()
    }, limit)
    const interrupted = () => {
      end()
      onSignal()
      process.exit(1)
    }
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
    for (const signal of signals) process.once(signal, interrupted)
    const settle = error => {
      clearTimeout(timer)
      for (const signal of signals) process.off(signal, interrupted)
      if (error) reject(error)
      else resolve(output)
    }
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', chunk => {
        output += chunk
      })
    child.on('error', settle)
    child.on('close', code => {
      if (late) settle(new Error(`compiling took more than ${limit / 1000} s`))
      else settle(code === 0 ? undefined : new Error(`compiling failed: ${reasonIn(output)}`))
    })
  })

const PROBE = `
const [entry, directory] = process.argv.slice(1)
const { createRequire } = await import('node:module')
const { open, nativeAddon } = await import(entry)
const db = open({ path: directory, keyEncoding: 'binary', encoding: 'binary' })
const key = n => Buffer.from([n >> 8, n & 255])
await db.transaction(() => { for (let n = 0; n < 1000; n++) db.put(key(n), Buffer.alloc(n, n)) })
for (let n = 0; n < 1000; n++) if (!db.get(key(n)).equals(Buffer.alloc(n, n))) throw new Error('a value differs')
const keys = [...db.getKeys({ start: key(10), end: key(900) })]
if (keys.length !== 890 || !keys[0].equals(key(10))) throw new Error('a range differs')
await db.close()
const modules = Object.values(createRequire(entry).cache)
console.log(modules.find(module => module.exports === nativeAddon).filename)
`

/** Opens and uses a database in another process, which may crash; says which binary was loaded there. */
const loadedBinary = (lmdb, env) => {
  const database = mkdtempSync(join(tmpdir(), 'quoin-lmdb-'))
  try {
    const { status, signal, stdout, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '-e', PROBE, lmdb.entry, database],
      { env, encoding: 'utf8', timeout: VERIFY_MS, killSignal: 'SIGKILL' }
    )
    if (status === 0) return stdout.trim()
    const reason = signal ?? stderr.match(/^\w*Error.*$/m)?.[0] ?? `exit ${status}`
    throw new Error(`the compiled binary does not work: ${reason}`)
  } finally {
    remove(database)
  }
}

/** Compiles a copy of the sources, and moves the binary into place when it has proved to work. */
const compile = async (lmdb, nodeGyp, headers, release) => {
  const build = dirname(release)
  mkdirSync(build, { recursive: true })
  const work = mkdtempSync(join(build, 'quoin-'))
  try {
    for (const name of ['binding.gyp', 'package.json', 'src', 'dependencies'])
      cpSync(join(lmdb.root, name), join(work, name), { recursive: true })
    for (const { file, from, to } of REPAIRS)
      writeFileSync(join(work, file), readFileSync(join(work, file), 'utf8').replaceAll(from, to))
    const options = { cwd: work, env: environment, onSignal: () => remove(work) }
    if (!headers)
      await run([...nodeGyp, 'install', '--ensure'], { ...options, limit: DOWNLOAD_MS }).catch(() => {
        throw new Error(`the headers of Node ${process.versions.node} are not here and cannot be downloaded`)
      })
    const where = headers ? [`--nodedir=${headers}`] : []
    await run([...nodeGyp, 'rebuild', '--release', '--jobs=max', ...where], { ...options, limit: COMPILE_MS })
    const binary = join(work, 'build/Release/lmdb.node')
    const loaded = loadedBinary(lmdb, { ...environment, LMDB_PREBUILD: work })
    if (realpathSync(loaded) !== realpathSync(binary)) throw new Error(`lmdb loads ${loaded} instead`)
    mkdirSync(release, { recursive: true })
    // A rename is atomic, and leaves the old file to the processes that have it mapped.
    renameSync(binary, join(release, 'lmdb.node'))
  } finally {
    remove(work)
  }
}

/** Removes what a run that was killed has left. */
const sweep = build => {
  if (!existsSync(build)) return
  for (const name of readdirSync(build).filter(name => name.startsWith('quoin-'))) {
    const path = join(build, name)
    if (Date.now() - statSync(path).mtimeMs > 2 * COMPILE_MS) remove(path)
  }
}

const main = async () => {
  const lmdb = findLmdb()
  if (!lmdb) return say('lmdb is not installed, so there is nothing to compile')
  const release = join(lmdb.root, 'build/Release')
  const binary = join(release, 'lmdb.node')
  const stamp = join(release, 'quoin.json')
  const { platform, arch, versions } = process
  const wanted = JSON.stringify({
    lmdb: lmdb.version,
    platform,
    arch,
    abi: versions.modules,
    repairs: REPAIRS.length
  })

  const prebuilt = environment.QUOIN_LMDB === 'prebuilt'
  if (!prebuilt && existsSync(binary) && read(stamp) === wanted) return
  // A build of ours that is not wanted, or is for another Node, would hide the prebuilt binary.
  if (existsSync(stamp)) remove(release)
  if (prebuilt) return say('the prebuilt lmdb is in use, as QUOIN_LMDB says')

  try {
    sweep(dirname(release))
    if (platform === 'win32') throw new Error('compiling it is not supported on Windows')
    const missing = missingTools()
    const nodeGyp = findNodeGyp()
    if (!nodeGyp) missing.push('node-gyp (comes with npm)')
    if (missing.length > 0) throw new Error(`this machine lacks ${missing.join(', ')}`)
    const headers = findHeaders()
    const start = Date.now()
    say(`compiling lmdb ${lmdb.version} with optimisation (less than a minute) ...`)
    await compile(lmdb, nodeGyp, headers, release)
    writeFileSync(stamp, wanted)
    say(`lmdb is compiled and tested (${((Date.now() - start) / 1000).toFixed(0)} s)`)
  } catch (error) {
    fallBack(lmdb, release, error)
  }
}

/** Says what is used instead. A build that others have left goes too, unless it works. */
const fallBack = (lmdb, release, { message }) => {
  let loaded
  try {
    loaded = loadedBinary(lmdb, environment)
  } catch {
    if (existsSync(release)) remove(release)
  }
  const used = loaded?.startsWith(release) ? 'an lmdb compiled before' : 'the slower prebuilt lmdb'
  say(`${used} stays in use: ${message}`)
}

try {
  await main()
} catch (error) {
  say(`the slower prebuilt lmdb stays in use: ${error.message}`)
}
