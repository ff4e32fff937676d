/**
 * `npm run prove`: proves every keyspace that the packages declare, and writes the fingerprints of the sound ones to
 * `src/proved.ts` of each package. A program that loads the packages then proves nothing again.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type AnyKeyspace, type KeyspaceGroup, PROPERTIES } from '@quoin/keyspace'
import * as bsv21 from '../packages/bsv21/src/keys.ts'
import * as chain from '../packages/chain/src/keys.ts'
import * as discovery from '../packages/discovery/src/keys.ts'
import * as kvstore from '../packages/kvstore/src/keys.ts'
import * as liquidity from '../packages/liquidity/src/keys.ts'
import * as liquidityProfile from '../packages/liquidity/src/profile.ts'
import { nodeStore } from '../packages/node/src/keyspaces.ts'
import * as liveLookups from '../packages/node/src/server/live-lookups/keys.ts'
import * as broadcasts from '../packages/overlay/src/broadcast/keys.ts'
import * as overlay from '../packages/overlay/src/keys.ts'
import { engineStore } from '../packages/overlay/src/plugin.ts'
import * as store from '../packages/store/src/layouts.ts'
import * as storeRows from '../packages/store/src/ordered/layout.ts'
import * as txoEvents from '../packages/txo/src/events.ts'
import * as txo from '../packages/txo/src/keys.ts'
import * as txoScripts from '../packages/txo/src/scripts/events.ts'

interface Declared {
  /** The modules with keyspaces and event types among their exports. */
  readonly modules?: readonly object[]
  readonly groups?: readonly KeyspaceGroup[]
}

const PACKAGES: Readonly<Record<string, Declared>> = {
  bsv21: { modules: [bsv21] },
  chain: { modules: [chain] },
  discovery: { modules: [discovery] },
  kvstore: { modules: [kvstore] },
  liquidity: { modules: [liquidity, liquidityProfile] },
  node: { modules: [liveLookups], groups: [nodeStore()] },
  overlay: { modules: [overlay, broadcasts], groups: [engineStore()] },
  store: { modules: [store, storeRows] },
  txo: { modules: [txo, txoEvents, txoScripts] }
}

const isKeyspace = (value: unknown): value is AnyKeyspace =>
  typeof value === 'object' && value !== null && 'subjects' in value && 'proof' in value

const keyspacesOf = (module: object): AnyKeyspace[] =>
  Object.values(module).flatMap(value => {
    const space = value?.keyspace ?? value
    return isKeyspace(space) ? [space] : []
  })

/** A line of a file: the fingerprint, with the name of what was proved. Throws for an unsound declaration. */
const provedLine = ({
  name,
  fingerprint,
  proofs
}: {
  name: string
  fingerprint: string
  proofs: AnyKeyspace['proof'][]
}): string => {
  const findings = proofs.flatMap(proof => proof.findings)
  if (findings.length > 0) {
    const lines = findings.map(each => `${each.property} (${PROPERTIES[each.property]}): ${each.message}`)
    throw new Error(`${name} is not sound:\n${lines.join('\n')}`)
  }
  return `  // ${name}\n  '${fingerprint}'`
}

/** The text of `src/proved.ts` by package, and the keyspaces that it stands for. */
export const provedFiles = (): ReadonlyMap<string, { readonly url: URL; readonly text: string }> =>
  new Map(
    Object.entries(PACKAGES).map(([folder, { modules = [], groups = [] }]) => {
      const lines = [
        ...modules
          .flatMap(keyspacesOf)
          .toSorted((a, b) => (a.name < b.name ? -1 : 1))
          .map(({ name, fingerprint, proof }) => provedLine({ name, fingerprint, proofs: [proof] })),
        ...groups.map(({ name, fingerprint, proofs }) =>
          provedLine({ name: `store of ${name}`, fingerprint, proofs: [...proofs] })
        )
      ]
      const text = `/** Fingerprints of sound keyspaces, written by \`npm run prove\`. */\nexport const PROVED: readonly string[] = [\n${lines.join(',\n')}\n]\n`
      return [folder, { url: new URL(`../packages/${folder}/src/proved.ts`, import.meta.url), text }]
    })
  )

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [folder, { url, text }] of provedFiles()) {
    if (readFileSync(url, 'utf8') === text) continue
    writeFileSync(url, text)
    process.stdout.write(`packages/${folder}/src/proved.ts\n`)
  }
}
