/**
 * Completes package-lock.json with the optional packages of other platforms. npm leaves out packages that the
 * registry in use does not serve, and then `npm ci` refuses the file everywhere. The platform (os, cpu, libc) is read
 * off the package's name. With `--check`, only reports whether packages are missing.
 */
import { readFileSync, writeFileSync } from 'node:fs'

const SYSTEMS = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32'
]
const PROCESSORS = [
  'arm',
  'arm64',
  'ia32',
  'loong64',
  'mips64el',
  'ppc64',
  'riscv64',
  's390x',
  'wasm32',
  'x64'
]

const file = new URL('../package-lock.json', import.meta.url)
const lock = JSON.parse(readFileSync(file, 'utf8'))

const platformOf = name => {
  const words = name.split('/').at(-1).split(/[-.]/)
  const os = SYSTEMS.find(system => words.includes(system))
  const cpu = PROCESSORS.find(processor => words.includes(processor))
  const libc = words.some(word => word.startsWith('musl'))
    ? 'musl'
    : words.some(word => word.startsWith('gnu'))
      ? 'glibc'
      : undefined
  if (!cpu || (!os && cpu !== 'wasm32')) throw new Error(`cannot tell the platform of ${name} from its name`)
  return { cpu: [cpu], ...(libc && os === 'linux' ? { libc: [libc] } : {}), ...(os ? { os: [os] } : {}) }
}

const missing = Object.entries(lock.packages).flatMap(([path, { optionalDependencies = {}, dev }]) =>
  Object.entries(optionalDependencies)
    .filter(
      ([name]) => !lock.packages[`${path}/node_modules/${name}`] && !lock.packages[`node_modules/${name}`]
    )
    .map(([name, version]) => [
      `node_modules/${name}`,
      { version, ...(dev ? { dev } : {}), optional: true, ...platformOf(name) }
    ])
)

if (process.argv.includes('--check')) {
  if (missing.length > 0) {
    process.stderr.write(
      `package-lock.json lacks ${missing.length} optional packages; run: npm run lockfile\n`
    )
    process.exitCode = 1
  }
} else {
  const { '': root, ...packages } = { ...lock.packages, ...Object.fromEntries(missing) }
  const sorted = Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1))
  lock.packages = { '': root, ...Object.fromEntries(sorted) }
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
  process.stdout.write(`package-lock.json: ${missing.length} packages added\n`)
}
