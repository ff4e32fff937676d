/** Submits a greeting to the overlay of `hello.ts`, and looks it up. */
import { DevChain } from '@quoin/dev-chain'
import { Engine, installPlugins } from '@quoin/overlay'
import { buildScript, formatOutpoint, OP } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { OutputStore } from '@quoin/txo'
import hello from './hello.ts'

const chain = new DevChain()
const outputs = new OutputStore(await openStore('memory:'))
const engine = new Engine({ outputs, tracker: chain, ...(await installPlugins([hello], { outputs })) })

const { txid } = chain.fund(buildScript([OP.FALSE, OP.RETURN, Buffer.from('Hello, world')]), 1)
const steak = await engine.submit({ beef: chain.beef(txid), topics: ['tm_greetings'] })
console.log('admitted outputs', steak['tm_greetings']!.outputsToAdmit)

for (const { outpoint } of await engine.lookup('ls_greetings', { text: 'Hello, world' }))
  console.log('found', formatOutpoint(outpoint))

await engine.close()
await outputs.store.close()
