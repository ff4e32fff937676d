/**
 * Makes sure that the programs which tests start are on this machine: `redis-server`, 7 or later. Where it may (Debian
 * and its kin, as root) it installs what is missing; elsewhere it says what to run. The tests start servers of their
 * own, so the service that the package brings along is kept from starting.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'

const MAJOR = 7
const INSTALL_MS = 600_000
const APT = ['install', '--yes', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=120', 'redis-server']
/** Asked by Debian's packages whether they may start their service; the exit code 101 forbids it. */
const POLICY = '/usr/sbin/policy-rc.d'

const say = line => process.stdout.write(`quoin: ${line}\n`)

const redisVersion = () => {
  const { stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' })
  return stdout?.match(/\bv=(\d+\.\d+\.\d+)/)?.[1]
}
const suffices = version => version !== undefined && Number.parseInt(version, 10) >= MAJOR

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

/** Installs the package, from fresh lists where those that are here do not lead to it; says what failed, if it did. */
const install = () =>
  withoutServices(() => {
    if (aptGet(APT) === undefined) return undefined
    return aptGet(['update']) ?? aptGet(APT)
  })

/** What a person would run here. */
const remedy = () => {
  if (process.platform === 'darwin') return 'brew install redis'
  if (existsSync('/etc/debian_version')) return 'sudo apt-get update && sudo apt-get install redis-server'
  if (existsSync('/etc/alpine-release')) return 'apk add redis'
  return 'install Redis with your package manager, or see https://redis.io/docs/latest/operate/oss_and_stack/install'
}

const fail = reason => {
  process.stderr.write(
    `quoin: the tests need redis-server ${MAJOR} or later on PATH: ${reason}.\n  ${remedy()}\n`
  )
  process.exitCode = 1
}

const main = () => {
  const found = redisVersion()
  if (suffices(found)) return say(`redis-server ${found} is here`)
  const lack = found ? `this one is ${found}` : 'there is none'
  const mayInstall = existsSync('/etc/debian_version') && process.getuid?.() === 0
  if (!mayInstall) return fail(lack)

  say(`redis-server: ${lack}; installing it with apt-get ...`)
  const failure = install()
  if (failure !== undefined) return fail(`apt-get could not install it (${failure})`)
  // Not now, and not at the next start of the machine. There may be no systemd, and then nothing to disable.
  spawnSync('systemctl', ['disable', 'redis-server'])
  const installed = redisVersion()
  if (!suffices(installed)) return fail(installed ? `apt-get has ${installed}` : 'apt-get did not bring one')
  say(`redis-server ${installed} was installed from the package redis-server; its service is not started`)
}

// With a handler, an interrupt ends apt-get and not this process before it has put the policy back.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
main()
