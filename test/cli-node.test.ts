/** A node as an operator runs it: the built program, its ports, its signals, and what is left when it is killed. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Tokens } from '@quoin/bsv21'
import { formatAddress, hash160, type Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { overlay } from '@quoin/overlay'
import { formatTxid, makeOutpoint, parseTxid, type Topic, toHex } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { OutputStore, outputs as outputKeys, verifyIndex } from '@quoin/txo'
import { afterAll, describe, expect, it } from 'vitest'
import * as t from '../packages/bsv21/src/tokens.testing.ts'
import { makeKey, payTo, spend, withKeyHash } from '../packages/chain/src/verify/test-chain.testing.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const BIN = join(ROOT, 'packages/node/bin/quoin.js')
const TOKEN = 'correct-horse-battery-staple'
const folder = mkdtempSync(join(tmpdir(), 'quoin-node-'))

/** A plug-in as a module: a topic that admits the first output of everything, and a lookup as @bsv/overlay has them. */
const PLUGIN = join(folder, 'first-output.mjs')
writeFileSync(
  PLUGIN,
  `const about = name => ({
  getDocumentation: async () => name,
  getMetaData: async () => ({ name, shortDescription: name })
})

export const topics = {
  tm_first: { ...about('First outputs'), admit: () => ({ outputs: [0] }) },
  tm_failing: {
    ...about('Failing'),
    admit() {
      throw new Error('out of order')
    }
  }
}

const known = []
export const lookups = {
  ls_first: {
    ...about('First outputs'),
    admissionMode: 'locking-script',
    spendNotificationMode: 'none',
    outputAdmittedByTopic: ({ txid, outputIndex }) => void known.push({ txid, outputIndex }),
    outputEvicted: () => undefined,
    lookup: async () => known
  }
}`
)

/** What tests are run with is not for the node. */
const environment = (more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('QUOIN_'))),
  ...more
})

const quoin = (...args: string[]) =>
  new Promise<{ status: unknown; stdout: string; stderr: string }>(resolve => {
    const options = { env: environment(), cwd: folder }
    const child = execFile(process.execPath, [BIN, ...args], options, (error, stdout, stderr) =>
      resolve({ status: error ? (error.code ?? error.signal) : 0, stdout, stderr })
    )
    child.stdin?.end()
  })

interface RunningNode {
  readonly url: string
  readonly child: ChildProcess
  /** The code or the signal that it ended with. */
  readonly ended: Promise<number | NodeJS.Signals | null>
  stdout(): string
  stderr(): string
}

/** Tests run beside one another, so what is left of one ends with all of them. */
const children = new Set<ChildProcess>()
afterAll(async () => {
  const running = [...children].filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
  const ended = running.map(child => new Promise(done => child.once('exit', done)))
  for (const child of running) child.kill('SIGKILL')
  await Promise.all(ended)
  rmSync(folder, { recursive: true })
})

/** Resolves when it listens. */
const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<RunningNode> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [BIN, ...args], { env: environment(env), cwd: folder })
    children.add(child)
    let [out, errors] = ['', '']
    const ended = new Promise<number | NodeJS.Signals | null>(done => {
      child.on('exit', (code, signal) => {
        children.delete(child)
        done(code ?? signal)
        reject(new Error(`ended with ${code ?? signal}: ${errors}`))
      })
    })
    child.stderr.on('data', (data: Buffer) => {
      errors += data
    })
    child.stdout.on('data', (data: Buffer) => {
      out += data
      const [, url] = /listening on (http:\S+)/.exec(out) ?? []
      if (url) resolve({ url, child, ended, stdout: () => out, stderr: () => errors })
    })
  })
const serve = (store: string, ...more: string[]): Promise<RunningNode> =>
  run(['serve', '--port', '0', '--store', store, '--plugins', PLUGIN, '--log-level', 'warn', ...more])
const store = (name: string): string => `lmdb:${join(folder, name)}`

const key = makeKey('node')
/** Transactions with real signatures, each with what proves it. */
const signed = (count: number, chain = new DevChain({ seed: 'node' })) => {
  const paid = Array.from({ length: count }, () => chain.fund(payTo(key), 1000))
  chain.mine()
  return Promise.all(
    paid.map(async from => {
      const transaction = spend({
        inputs: [{ from, vout: 0, unlock: withKeyHash(key) }],
        outputs: [{ satoshis: 900, script: payTo(key) }]
      })
      await chain.submit(transaction)
      return { transaction, beef: chain.beef(transaction.txid) }
    })
  )
}
const submit = (url: string, beef: Uint8Array, topics = ['tm_first']): Promise<Response> =>
  fetch(`${url}/submit`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream', 'x-topics': JSON.stringify(topics) },
    body: Buffer.from(beef)
  })
const ADMITTED = { tm_first: { outputsToAdmit: [0], coinsToRetain: [], coinsRemoved: [] } }

// biome-ignore lint/suspicious/noExplicitAny: each answer is looked at where it is used.
const ask = async (url: string, body?: unknown): Promise<any> => {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) })
  })
  return response.json()
}

/** Submits everything, so many at once, and answers what was acknowledged. */
const load = async (
  url: string,
  all: Awaited<ReturnType<typeof signed>>,
  onAnswer: (count: number) => void
) => {
  const acknowledged: Transaction[] = []
  const waiting = [...all]
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { transaction, beef } = next
      // The node is gone, or does not take it: then it is not acknowledged.
      const response = await submit(url, beef).catch(() => undefined)
      const steak = response?.ok ? await response.json().catch(() => undefined) : undefined
      if (!steak) continue
      expect(steak).toEqual(ADMITTED)
      acknowledged.push(transaction)
      onAnswer(acknowledged.length)
    }
  }
  await Promise.all(Array.from({ length: 16 }, worker))
  return acknowledged
}

/** How many transactions a store has, beside the process that writes to it. */
const applied = async (at: string): Promise<number> => {
  try {
    const opened = await openStore(`${at}?read-only`, { create: false })
    const rows = await opened
      .use(outputKeys.collections.topicTransactions)
      .at('tm_first' as Topic)
      .range()
    await opened.close()
    return rows.length
  } catch {
    // There is none yet.
    return 0
  }
}

/** What a store has that no process has open: every acknowledged one whole, and of the others nothing or all. */
const expectWhole = async (
  at: string,
  acknowledged: readonly Transaction[],
  all: readonly { readonly transaction: Transaction }[]
): Promise<void> => {
  const opened = await openStore(at)
  try {
    const outputs = new OutputStore(opened)
    const names = new Set(acknowledged.map(({ txid }) => formatTxid(txid)))
    for (const { transaction } of all) {
      const { txid } = transaction
      const parts = [
        await outputs.isApplied('tm_first' as Topic, txid),
        await outputs.isInTopic('tm_first' as Topic, makeOutpoint(txid, 0)),
        (await outputs.transactions.get(txid)) !== undefined,
        (await opened.use(overlay.collections.judgements).get(txid)) !== undefined
      ]
      expect(new Set(parts).size).toBe(1)
      if (names.has(formatTxid(txid))) expect(parts[0]).toBe(true)
    }
    expect((await verifyIndex(opened)).differences).toEqual([])
  } finally {
    await opened.close()
  }
}

describe('quoin serve', () => {
  it('runs with a file, the environment and options, and ends in peace', async () => {
    const file = join(folder, 'quoin.yaml')
    writeFileSync(file, `store: lmdb:./from-file\nplugins: [${PLUGIN}]\nlogLevel: silent\nname: mine\n`)
    const { url, child, ended, stderr } = await run(['serve', '--config', file, '--port', '0'], {
      QUOIN_ADMIN_TOKEN: TOKEN
    })
    const status = await ask(`${url}/status`)
    expect(status).toMatchObject({
      service: { name: 'mine' },
      chain: { height: 0 },
      topics: expect.arrayContaining(['tm_kvstore', 'tm_first', 'tm_failing']),
      lookups: expect.arrayContaining(['ls_kvstore', 'ls_first'])
    })
    expect((await fetch(`${url}/health/ready`)).status).toBe(200)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
    expect(stderr()).toContain('closing')
  })

  it.concurrent.each([
    [['--port', 'http'], '--port: port is "http"; expected a whole number'],
    [['--chain', 'scripts-only', '--host', '0.0.0.0'], 'listens on loopback only'],
    [['--plugins', './absent.js'], 'absent.js is missing'],
    [['--peers', 'tm_none=http://localhost:1'], 'unknown topic'],
    [['--config', 'absent.yaml'], 'cannot read the configuration'],
    [['--prot', '1'], 'unknown option']
  ])('%j is refused with the reason, and exit code 2', async (args, reason) => {
    const { status, stdout, stderr } = await quoin('serve', '--store', 'memory:', ...args)
    expect(status).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain(reason)
  })

  it('says when another program has the port', async () => {
    const { url } = await serve('memory:')
    const { status, stderr } = await quoin('serve', '--store', 'memory:', '--port', new URL(url).port)
    expect(status).toBe(2)
    expect(stderr).toContain('another program has it')
  })

  it('keeps a chain of its own, across restarts, blocks and a reorg', async () => {
    const at = store('chain')
    let { url, child, ended } = await serve(at, '--block-time', '0')
    const post = (path: string, body: unknown = {}) => ask(`${url}${path}`, body)
    const paid = await post('/dev/fund', { script: toHex(payTo(key)), satoshis: 5000 })
    expect(await (await submit(url, Buffer.from(paid.beef, 'hex'))).json()).toEqual(ADMITTED)
    await post('/dev/mine')
    child.kill('SIGKILL')
    expect(await ended).toBe('SIGKILL')
    ;({ url, child, ended } = await serve(at, '--block-time', '0'))
    const before = (await ask(`${url}/status`)).chain
    const { blocks } = await post('/dev/reorg?depth=1')
    const after = (await ask(`${url}/status`)).chain
    expect(after).toMatchObject(blocks.at(-1))
    expect(after.height).toBe(before.height + 1)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
    const opened = await openStore(at)
    const outputs = new OutputStore(opened)
    expect((await outputs.transactions.proof(parseTxid(paid.txid)))?.height).toBe(blocks[0].height + 1)
    expect((await verifyIndex(opened)).differences).toEqual([])
    await opened.close()
  })
})

describe.concurrent('what was answered is kept', { timeout: 120_000 }, () => {
  const EVERY = 200

  it('when it is told to end under load: everything under way is answered', async () => {
    const at = store('term')
    const { url, child, ended } = await serve(at, '--chain', 'scripts-only')
    const all = await signed(EVERY)
    const acknowledged = await load(url, all, count => {
      if (count === 100) child.kill('SIGTERM')
    })
    expect(await ended).toBe(0)
    expect(acknowledged.length).toBeGreaterThanOrEqual(100)
    // Whatever it took in, it answered.
    expect(await applied(at)).toBe(acknowledged.length)
    await expectWhole(at, acknowledged, all)
  })

  it('when it is told twice, it ends at once', async () => {
    const at = store('twice')
    const { url, child, ended } = await serve(at, '--chain', 'scripts-only')
    const all = await signed(EVERY)
    const acknowledged = await load(url, all, count => {
      if (count !== 100) return
      child.kill('SIGTERM')
      child.kill('SIGINT')
    })
    expect([0, 130, 143]).toContain(await ended)
    await expectWhole(at, acknowledged, all)
  })

  it.each([1, 2])('when it is killed under load, and started again (%i)', async round => {
    const at = store(`kill-${round}`)
    const first = await serve(at, '--chain', 'scripts-only')
    const all = await signed(EVERY)
    const acknowledged = await load(first.url, all, count => {
      if (count === 60 * round) first.child.kill('SIGKILL')
    })
    expect(await first.ended).toBe('SIGKILL')
    expect(acknowledged.length).toBeLessThan(EVERY)
    await expectWhole(at, acknowledged, all)
    const second = await serve(at, '--chain', 'scripts-only')
    expect(await load(second.url, all, () => undefined)).toHaveLength(EVERY)
    second.child.kill('SIGTERM')
    expect(await second.ended).toBe(0)
    await expectWhole(
      at,
      all.map(({ transaction }) => transaction),
      all
    )
  })
})

describe.concurrent('quoin config', { timeout: 120_000 }, () => {
  it('shows what the settings come to, where from, and nothing secret', async () => {
    const file = join(folder, 'shown.yaml')
    writeFileSync(file, `adminToken: ${TOKEN}\nstore: redis://me:swordfish@localhost:6379\n`)
    const { status, stdout } = await quoin('config', '--config', file, '--port', '9', '--limits-page', '5')
    expect(status).toBe(0)
    expect(stdout).toContain('port: 9  # --port')
    expect(stdout).toContain('  page: 5  # --limits-page')
    expect(stdout).toContain(`# adminToken: (hidden)  # ${file}`)
    expect(stdout).not.toContain(TOKEN)
    expect(stdout).not.toContain('swordfish')
  })

  it('prints a file that says the same', async () => {
    const file = join(folder, 'printed.yaml')
    const given = ['--port', '9', '--index', 'p2pkh,map', '--peers', 'tm_a=http://x:1']
    writeFileSync(file, (await quoin('config', ...given)).stdout)
    const again = JSON.parse((await quoin('config', '--config', file, '--json')).stdout)
    expect(again).toMatchObject({
      valid: true,
      config: { port: 9, index: ['p2pkh', 'map'], peers: { tm_a: ['http://x:1'] } },
      origins: { port: file }
    })
  })

  it('as JSON says what is wrong', async () => {
    const { status, stdout } = await quoin('config', '--port', 'x', '--json')
    expect(status).toBe(2)
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: 'ERR_CONFIG', problems: [{ setting: 'port', source: '--port' }] }
    })
  })
})

describe('quoin demo', () => {
  it('--exit does the main job, verifies it and leaves nothing', async () => {
    const { status, stdout } = await quoin('demo', '--exit', '--json')
    const { right, checks } = JSON.parse(stdout)
    expect(checks.filter(({ holds }: { holds: boolean }) => !holds)).toEqual([])
    expect({ status, right }).toEqual({ status: 0, right: true })
    expect(checks).toHaveLength(7)
  })

  it('keeps running until it is told to end; what it wrote can be kept, and added to', async () => {
    const at = store('demo')
    expect((await quoin('demo', '--exit', '--store', at)).stdout).toContain('everything is right')
    const { child, ended, stdout } = await run(['demo', '--port', '0', '--store', at])
    await expect.poll(stdout, { timeout: 20_000 }).toContain('Ctrl-C ends it.')
    expect(stdout()).toContain('everything is right')
    const [, shown] = stdout().split('Open:')
    const links = [...shown!.split('Try:')[0]!.matchAll(/http:\S+/g)].map(([link]) => link)
    expect(links.length).toBeGreaterThan(3)
    for (const link of links) expect((await fetch(link)).status, link).toBe(200)
    child.kill('SIGINT')
    expect(await ended).toBe(0)
    expect((await quoin('verify', at)).status).toBe(0)
  })
})

describe('asking a node', () => {
  const file = (name: string, content: string | Uint8Array): string => {
    const path = join(folder, name)
    writeFileSync(path, content)
    return path
  }

  it('quoin status, submit and lookup', async () => {
    const { url } = await serve('memory:', '--chain', 'scripts-only')
    const [first, second] = await signed(2)
    const at = ['--url', url]

    const status = await quoin('status', ...at, '--json')
    expect(status.status).toBe(0)
    expect(JSON.parse(status.stdout)).toMatchObject({
      ready: true,
      topics: expect.arrayContaining(['tm_first', 'tm_failing'])
    })
    expect((await quoin('status', ...at)).stdout).toContain(': ready')
    const peer = 'http://127.0.0.1:1'
    const alone = await serve('memory:', '--chain', 'scripts-only', '--peers', `tm_first=${peer}`)
    await expect
      .poll(async () => (await quoin('status', '--url', alone.url)).stdout, { timeout: 10_000 })
      .toMatch(/: ready\n {2}peer tm_first http.*: failing: .*cannot be reached.*, for \d+ s\n/)
    expect((await quoin('status', '--url', alone.url)).stdout).toContain(`${peer}: failing for`)
    expect(alone.stderr().match(/a peer is failing/g)).toHaveLength(1)

    expect(await quoin('lookup', 'ls_first', '{}', ...at)).toMatchObject({
      status: 1,
      stdout: '0 outputs found\n'
    })
    const binary = file('one.beef', first!.beef)
    const submitted = await quoin('submit', binary, '--topic', 'tm_first', ...at)
    expect(submitted).toMatchObject({ status: 0, stdout: 'tm_first  admitted outputs 0\n' })
    const text = file('two.txt', `${toHex(second!.beef)}\n`)
    expect(JSON.parse((await quoin('submit', text, '--topic', 'tm_first', '--json', ...at)).stdout)).toEqual(
      ADMITTED
    )
    const failing = await quoin('submit', binary, '--topic', 'tm_failing', ...at)
    expect(failing.status).toBe(1)
    expect(failing.stdout).toContain('failed: out of order')

    const found = JSON.parse((await quoin('lookup', 'ls_first', '{}', '--json', ...at)).stdout)
    expect(found.outputs.map((each: { outpoint: string }) => each.outpoint)).toEqual(
      [first, second].map(each => `${formatTxid(each!.transaction.txid)}.0`)
    )
    expect(found.outputs[0]).toMatchObject({ satoshis: 900, script: toHex(payTo(key)) })
  })

  it.concurrent.each([
    [['status', '--url', 'http://127.0.0.1:1'], 'cannot be reached'],
    [['status', '--url', 'localhost'], '--url is an http or https address'],
    [['lookup', 'ls_first', '{'], 'the query is JSON'],
    [['submit', 'absent.beef', '--topic', 'tm_first'], 'cannot read absent.beef'],
    [['submit', BIN, '--topic', 'tm_first'], 'invalid BEEF'],
    [['submit', 'x.beef'], "required option '--topic"]
  ])('%j is wrong, and says why', async (args, reason) => {
    const { status, stderr } = await quoin(...args)
    expect(status).toBe(2)
    expect(stderr).toContain(reason)
  })

  it('says what the node said', async () => {
    const { url } = await serve('memory:', '--chain', 'scripts-only')
    const [only] = await signed(1)
    const { status, stderr } = await quoin(
      'submit',
      file('x.beef', only!.beef),
      '--topic',
      'tm_none',
      '--url',
      url
    )
    expect(status).toBe(2)
    expect(stderr).toContain('answered 400: no topic is called tm_none [ERR_TOPIC_UNKNOWN]')
  })
})

describe('quoin import', () => {
  const lines = (all: Awaited<ReturnType<typeof signed>>): string =>
    all
      .map(({ beef }, i) =>
        i % 3 === 0
          ? JSON.stringify({ beef: toHex(beef) })
          : i % 3 === 1
            ? JSON.stringify({ beef: Buffer.from(beef).toString('base64') })
            : toHex(beef)
      )
      .join('\n')
  const importing = (...args: string[]) => quoin('import', ...args, '--chain', 'scripts-only', '--json')
  const write = (name: string, content: string | Uint8Array): string => {
    const path = join(folder, name)
    writeFileSync(path, content)
    return path
  }

  it('takes BEEF files and lines, passes over what does not verify, and goes on where it was', async () => {
    const at = store('import')
    const all = await signed(40)
    const path = write('all.ndjson', `${lines(all.slice(1, 30))}\n\n{"beef":"00"}\nnot a beef\n`)
    const one = write('one.bin', all[0]!.beef)
    const first = await importing(path, one, '--store', at)
    expect(first.status).toBe(1)
    expect(first.stderr).toContain('line 31: invalid BEEF')
    expect(JSON.parse(first.stdout).files).toMatchObject([
      { imported: 29, failed: 2, from: 0 },
      { imported: 1, failed: 0, from: 0 }
    ])
    const again = await importing(path, one, '--store', at)
    expect(again.status).toBe(0)
    expect(JSON.parse(again.stdout).files).toMatchObject([{ imported: 0 }, { imported: 0 }])
    // More of the same file, and then another one by that name.
    const grown = `${lines(all.slice(1, 30))}\n\n{"beef":"00"}\nnot a beef\n${lines(all.slice(30))}\n`
    write('all.ndjson', grown)
    expect(JSON.parse((await importing(path, '--store', at)).stdout).files).toMatchObject([
      { imported: 10, failed: 0 }
    ])
    write('all.ndjson', `${lines(all.slice(0, 2))}\n${grown}`)
    expect(JSON.parse((await importing(path, '--store', at)).stdout).files).toMatchObject([
      { from: 0, failed: 2 }
    ])
    const verified = await quoin('verify', at, '--json')
    expect(JSON.parse(verified.stdout)).toMatchObject({ valid: true })
    const opened = await openStore(at)
    const { outputs: count } = await new OutputStore(opened).searchBalance({
      keys: [`own:${formatAddress(hash160(key.publicKey))}`]
    })
    expect(count).toBe(40)
    await opened.close()
  })

  it('brings tokens up to date, in whichever order their transactions come', async () => {
    const at = store('tokens')
    const chain = new DevChain()
    const [alice, bob] = [t.person(1), t.person(2)]
    const fund = (): t.Spent => t.at(chain.fund(alice.address, 1000), 0, alice)
    const deployed = t.transaction([fund()], [t.deployMint(alice, 1000n)])
    const id = t.tokenIdOf(deployed)
    const moved = t.transaction([t.at(deployed, 0, alice), fund()], [t.transfer(id, 1000n, t.paidTo(bob))])
    await t.mined(chain, deployed, moved)
    const beefs = [moved, deployed].map(({ txid }) => toHex(chain.beef(txid)))
    const path = write('tokens.ndjson', beefs.join('\n'))
    expect((await importing(path, '--store', at, '--bsv21-activation', 'all')).status).toBe(0)
    const opened = await openStore(at)
    const { holders } = await new Tokens(new OutputStore(opened)).holders(id, { limit: 10 })
    expect(holders).toMatchObject([{ address: bob.address, amount: 1000n }])
    await opened.close()
  })

  it('is whole after Ctrl-C and after a kill, and goes on', async () => {
    const all = await signed(600)
    const path = write('many.ndjson', lines(all))
    const at = store('many')
    const args = ['import', path, '--store', at, '--chain', 'scripts-only', '--topic', 'tm_first']
    let before = 0
    for (const signal of ['SIGKILL', 'SIGINT'] as const) {
      const child = spawn(process.execPath, [BIN, ...args, '--plugins', PLUGIN], { env: environment() })
      children.add(child)
      const ended = new Promise(done => child.on('exit', (code, by) => done(code ?? by)))
      // In the middle of it: so many are there, and not all.
      await expect.poll(() => applied(at), { timeout: 30_000, interval: 20 }).toBeGreaterThan(before + 50)
      child.kill(signal)
      expect(await ended).toBe(signal === 'SIGKILL' ? 'SIGKILL' : 1)
      await expectWhole(at, [], all)
      before = await applied(at)
      expect(before).toBeLessThan(all.length)
    }
    const { status, stdout } = await quoin(...args, '--plugins', PLUGIN)
    expect(status).toBe(0)
    expect(stdout).toMatch(/many.ndjson: \d+ transactions? imported, [\d,]+ a second/)
    await expectWhole(
      at,
      all.map(({ transaction }) => transaction),
      all
    )
  })

  it.concurrent.each([
    [['absent.ndjson'], 'cannot read absent.ndjson'],
    [['.'], 'is not a file'],
    [[BIN, '--index', 'off', '--chain', 'scripts-only'], 'nothing to import']
  ])('%j is wrong, and says why', async (args, reason) => {
    const { status, stderr } = await quoin('import', ...args, '--store', 'memory:')
    expect(status).toBe(2)
    expect(stderr).toContain(reason)
  })

  it.concurrent('needs headers to check proofs against', async () => {
    const { status, stderr } = await quoin('import', BIN, '--store', store('without-headers'))
    expect(status).toBe(2)
    expect(stderr).toContain('--chain headers:URL gets them')
  })
})

it('quoin backup and restore are what they are under quoin store', async () => {
  const at = store('backed-up')
  expect((await quoin('demo', '--exit', '--store', at)).status).toBe(0)
  expect((await quoin('backup', at, join(folder, 'backup'))).status).toBe(0)
  expect((await quoin('restore', join(folder, 'backup'), `level:${join(folder, 'restored')}`)).status).toBe(0)
  const { status, stdout } = await quoin('verify', `level:${join(folder, 'restored')}`, '--json')
  expect(status).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ valid: true, transactions: 10 })
})
