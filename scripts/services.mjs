/**
 * Provides the programs that tests start: `redis-server` 7 or later, PostgreSQL 13 or later, Chromium
 * and a C compiler. On Debian and Ubuntu it
 * installs missing ones, as root or with a `sudo` that asks for no password; elsewhere it prints the command to run. The
 * tests start servers of their own, so the services of installed packages are kept from starting.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Compiles nothing, with the headers of the C library, which a compiler may lack. */
const COMPILED = ['-E', '-include', 'stdio.h', '-xc', '/dev/null']

const INSTALL_MS = 600_000
/** Debian's packages run this file before they start their service; the exit code 101 forbids the start. */
const POLICY = '/usr/sbin/policy-rc.d'

const say = line => process.stdout.write(`quoin: ${line}\n`)

const versionOf = (command, pattern) => {
  const { stdout } = spawnSync(command, ['--version'], { encoding: 'utf8' })
  return stdout?.match(pattern)?.[1]
}

/** Debian keeps the programs of each version in a folder of its own, off the PATH. */
const POSTGRES = '/usr/lib/postgresql'
const postgresFolders = () =>
  existsSync(POSTGRES) ? readdirSync(POSTGRES).map(version => `${POSTGRES}/${version}/bin/`) : []

/** The programs, each with its packages. */
const PROGRAMS = [
  {
    name: 'redis-server',
    major: 7,
    version: () => versionOf('redis-server', /\bv=(\d+\.\d+\.\d+)/),
    packages: { debian: 'redis-server', alpine: 'redis', brew: 'redis' },
    service: 'redis-server'
  },
  {
    name: 'postgres',
    major: 13,
    version: () =>
      ['', ...postgresFolders()]
        .map(folder => versionOf(`${folder}postgres`, /\b(\d+\.\d+)/))
        .find(version => version !== undefined),
    packages: { debian: 'postgresql', alpine: 'postgresql', brew: 'postgresql' },
    service: 'postgresql'
  },
  {
    name: 'chromium',
    major: 120,
    version: () =>
      ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
        .filter(existsSync)
        .map(path => versionOf(path, /(\d+(?:\.\d+)+)/))
        .find(version => version !== undefined),
    packages: { debian: 'chromium', alpine: 'chromium', brew: '--cask chromium' }
  },
  {
    name: 'cc',
    major: 8,
    version: () => (spawnSync('cc', COMPILED).status === 0 ? versionOf('cc', /(\d+\.\d+\.\d+)/) : undefined),
    packages: { debian: 'gcc libc6-dev', alpine: 'gcc musl-dev', brew: 'gcc' }
  }
]

/** Programs that `npm run test:deploy` checks the files of `deploy/` with. */
const DEPLOY_PROGRAMS = [
  {
    name: 'nginx',
    major: 1,
    version: () =>
      spawnSync('/usr/sbin/nginx', ['-v'], { encoding: 'utf8' }).stderr?.match(/\/(\d+\.\d+)/)?.[1],
    packages: { debian: 'nginx-light', alpine: 'nginx', brew: 'nginx' },
    service: 'nginx'
  },
  {
    name: 'caddy',
    major: 2,
    version: () => spawnSync('caddy', ['version'], { encoding: 'utf8' }).stdout?.match(/(\d+\.\d+)/)?.[1],
    packages: { debian: 'caddy', alpine: 'caddy', brew: 'caddy' },
    service: 'caddy'
  },
  {
    name: 'promtool',
    major: 2,
    version: () => versionOf('promtool', /version (\d+\.\d+)/),
    packages: { debian: 'prometheus', alpine: 'prometheus', brew: 'prometheus' },
    service: 'prometheus'
  },
  {
    name: 'systemd-analyze',
    major: 240,
    version: () => versionOf('systemd-analyze', /systemd (\d+)/),
    packages: { debian: 'systemd', alpine: 'systemd', brew: 'systemd' }
  },
  {
    name: 'openssl',
    major: 1,
    version: () => spawnSync('openssl', ['version'], { encoding: 'utf8' }).stdout?.match(/(\d+\.\d+)/)?.[1],
    packages: { debian: 'openssl', alpine: 'openssl', brew: 'openssl' }
  }
]
if (process.argv[2] === 'deploy') PROGRAMS.push(...DEPLOY_PROGRAMS)

const isDebian = existsSync('/etc/debian_version')

const suffices = (version, { major }) => version !== undefined && Number.parseInt(version, 10) >= major

/** Runs `work` while no package may start a service, and leaves the machine's own policy as it was. */
const withoutServices = work => {
  if (spawnSync(POLICY, ['redis-server', 'start']).status === 101) return work()
  const kept = `${POLICY}.kept-by-quoin`
  const had = existsSync(POLICY)
  if (had) renameSync(POLICY, kept)
  try {
    writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
    return work()
  } finally {
    if (had) renameSync(kept, POLICY)
    else rmSync(POLICY, { force: true })
  }
}

const aptGet = args => {
  const { status, signal, stderr, error } = spawnSync('apt-get', args, {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    encoding: 'utf8',
    timeout: INSTALL_MS
  })
  if (status === 0) return undefined
  return stderr?.trim().split('\n').at(-1) || error?.message || signal || `exit ${status}`
}

/** Installs packages, with fresh package lists if the present ones do not have them. Returns the failure, if any. */
const install = names => {
  const apt = [
    'install',
    '--yes',
    '--no-install-recommends',
    '-o',
    'DPkg::Lock::Timeout=120',
    ...names.split(' ')
  ]
  return withoutServices(() => {
    if (aptGet(apt) === undefined) return undefined
    return aptGet(['update']) ?? aptGet(apt)
  })
}

/** The command that installs a program on this machine. */
const remedy = ({ name, packages: { debian, alpine, brew } }) => {
  if (process.platform === 'darwin') return `brew install ${brew}`
  if (existsSync('/etc/debian_version')) return `sudo apt-get update && sudo apt-get install ${debian}`
  if (existsSync('/etc/alpine-release')) return `apk add ${alpine}`
  return `install ${name} with your package manager`
}

const fail = (program, reason) => {
  const { name, major } = program
  process.stderr.write(
    `quoin: the tests need ${name} ${major} or later on this machine: ${reason}.\n  ${remedy(program)}\n`
  )
  process.exitCode = 1
}

const provide = program => {
  const { name, version, packages, service } = program
  const found = version()
  if (suffices(found, program)) return say(`${name} ${found} is here`)
  const lack = found ? `this one is ${found}` : 'there is none'
  if (!isDebian || process.getuid?.() !== 0) return fail(program, lack)

  say(`${name}: ${lack}; installing it with apt-get ...`)
  const failure = install(packages.debian)
  if (failure !== undefined) return fail(program, `apt-get could not install it (${failure})`)
  // Not now, and not at the next start of the machine. There may be no systemd, and then nothing to disable.
  if (service) spawnSync('systemctl', ['disable', service])
  const installed = version()
  if (!suffices(installed, program)) {
    return fail(program, installed ? `apt-get has ${installed}` : 'apt-get did not bring one')
  }
  say(`${name} ${installed} was installed from ${packages.debian}; no service is started`)
}

/** Runs this script with `sudo`, where that asks for no password; undefined where it does. */
const provideAsRoot = () => {
  if (spawnSync('sudo', ['-n', 'true']).status !== 0) return undefined
  say('installing missing programs with sudo ...')
  const script = fileURLToPath(import.meta.url)
  return (
    spawnSync('sudo', ['-n', process.execPath, script, ...process.argv.slice(2)], { stdio: 'inherit' })
      .status ?? 1
  )
}

// With a handler, an interrupt ends apt-get and not this process before it has put the policy back.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
const isComplete = PROGRAMS.every(program => suffices(program.version(), program))
const status = isComplete || !isDebian || process.getuid?.() === 0 ? undefined : provideAsRoot()
if (status === undefined) for (const program of PROGRAMS) provide(program)
else process.exitCode = status
