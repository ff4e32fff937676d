/**
 * A root of its own for the commands of docs/operate/deploy.md: paths and ports are moved into it, and programs that change
 * the machine (the package manager, users, systemd) are stand-ins on the PATH, which write down their calls.
 */
import { execFile, spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './node.testing.ts'

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

export interface Ports {
  readonly node: number
  readonly http: number
  readonly https: number
}

const NOTED = ['apt-get', 'useradd', 'chown', 'journalctl']

export class DeployRoot {
  readonly folder = mkdtempSync(join(tmpdir(), 'quoin-deploy-'))
  readonly ports: Ports
  readonly #nginx: string

  constructor(ports: Ports) {
    this.ports = ports
    this.#nginx = join(this.folder, 'etc/nginx')
    for (const name of [
      'shims',
      'etc/nginx/sites-enabled',
      'etc/systemd/system',
      'etc/prometheus',
      'var',
      'opt',
      'run'
    ])
      mkdirSync(join(this.folder, name), { recursive: true })
    const calls = join(this.folder, 'calls')
    for (const name of NOTED) this.#shim(name, `echo "${name} $*" >> ${calls}`)
    // The owner is the user of the test.
    this.#shim(
      'install',
      `args=(); while [ $# -gt 0 ]; do case "$1" in --owner|--group) shift 2;; *) args+=("$1"); shift;; esac; done; exec /usr/bin/install "\${args[@]}"`
    )
    this.#shim('nginx', `exec /usr/sbin/nginx -p ${this.#nginx}/ -c ${this.#nginx}/nginx.conf "$@"`)
    this.#shim(
      'systemctl',
      `echo "systemctl $*" >> ${calls}
case "$1 $2" in
  "enable --now") command=$(sed -n 's/^ExecStart=//p' ${this.folder}/etc/systemd/system/quoin.service)
    setsid $command >> ${this.folder}/log 2>&1 < /dev/null & echo $! > ${this.folder}/run/quoin.pid ;;
  "reload nginx") nginx ;;
esac`
    )
    this.#certificate()
    writeFileSync(
      join(this.#nginx, 'nginx.conf'),
      `pid ${this.folder}/run/nginx.pid;
error_log ${this.folder}/nginx.log;
daemon on;
worker_processes 1;
user root;
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(name => `${name}_temp_path ${this.folder}/run/${name};`).join('\n  ')}
  include ${this.#nginx}/sites-enabled/*;
}
`
    )
  }

  #shim(name: string, script: string): void {
    const path = join(this.folder, 'shims', name)
    writeFileSync(path, `#!/bin/bash\nset -e\n${script}\n`)
    chmodSync(path, 0o755)
  }

  /** For 127.0.0.1, signed by itself. */
  #certificate(): void {
    const live = join(this.folder, 'etc/letsencrypt/live/127.0.0.1')
    mkdirSync(live, { recursive: true })
    const { status, stderr } = spawnSync(
      'openssl',
      `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -keyout ${live}/privkey.pem -out ${live}/fullchain.pem`.split(
        ' '
      ),
      { encoding: 'utf8' }
    )
    if (status !== 0) throw new Error(`openssl cannot make a certificate: ${stderr}`)
  }

  get certificate(): string {
    return join(this.folder, 'etc/letsencrypt/live/127.0.0.1/fullchain.pem')
  }

  get calls(): string {
    const path = join(this.folder, 'calls')
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  }

  get log(): string {
    const path = join(this.folder, 'log')
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  }

  /** A text with the paths and ports of this root in place of those of the machine. */
  moved(text: string): string {
    return text
      .replaceAll(
        /(?<![\w/.])\/(opt|etc|var)\/(?=quoin|nginx|systemd|prometheus|letsencrypt|lib|backups)/g,
        `${this.folder}/$1/`
      )
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${this.ports.node}`)
      .replaceAll('listen 443', `listen 127.0.0.1:${this.ports.https}`)
      .replaceAll('listen 80;', `listen 127.0.0.1:${this.ports.http};`)
      .replaceAll('include snippets/', `include ${this.#nginx}/snippets/`)
  }

  /** Copies of the files of `deploy/`, moved; the rest of the source folder is itself. */
  deployFolder(names: readonly string[]): string {
    const folder = join(this.folder, 'source/deploy')
    mkdirSync(folder, { recursive: true })
    for (const name of names)
      writeFileSync(join(folder, name), this.moved(readFileSync(join(ROOT, 'deploy', name), 'utf8')))
    writeFileSync(join(folder, 'install.sh'), `#!/bin/sh\nexec ${join(ROOT, 'deploy/install.sh')} "$@"\n`)
    chmodSync(join(folder, 'install.sh'), 0o755)
    return join(this.folder, 'source')
  }

  run(script: string, cwd: string, variables: Readonly<Record<string, string>> = {}): Promise<string> {
    const own = Object.entries(process.env).filter(([name]) => !name.startsWith('QUOIN_'))
    const env = {
      ...Object.fromEntries(own),
      PATH: `${this.folder}/shims:${process.env['PATH']}:/usr/sbin`,
      ...variables
    }
    return new Promise((resolve, reject) => {
      const child = execFile(
        'bash',
        ['-e', '-c', script],
        { cwd, env, maxBuffer: 1 << 24 },
        (error, stdout, stderr) =>
          error ? reject(new Error(`${script}\n${stdout}\n${stderr}\n${this.log}`)) : resolve(stdout)
      )
      child.stdin?.end()
    })
  }

  /** Starts nginx with one site; `close` ends it. */
  async nginx(site: string): Promise<void> {
    writeFileSync(join(this.#nginx, 'sites-enabled/quoin'), this.moved(site))
    mkdirSync(join(this.#nginx, 'snippets'), { recursive: true })
    writeFileSync(
      join(this.#nginx, 'snippets/quoin-proxy.conf'),
      readFileSync(join(ROOT, 'deploy/nginx-proxy.conf'))
    )
    await this.run('nginx -t && nginx', this.folder)
  }

  async close(): Promise<void> {
    for (const name of ['nginx', 'quoin']) {
      const path = join(this.folder, `run/${name}.pid`)
      if (existsSync(path)) await ended(Number(readFileSync(path, 'utf8')))
    }
    rmSync(this.folder, { recursive: true, force: true })
  }
}

const isRunning = (pid: number): boolean => spawnSync('kill', ['-0', String(pid)]).status === 0

/** SIGTERM, and the end of the process. */
const ended = async (pid: number): Promise<void> => {
  if (!isRunning(pid)) return
  process.kill(pid, 'SIGTERM')
  await new Promise<void>(resolve =>
    spawn('tail', ['--pid', String(pid), '-f', '/dev/null']).once('exit', () => resolve())
  )
}
