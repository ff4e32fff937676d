/** A page that stores a public name under its owner's key, and follows the changes of it. */
import { GlobalKV } from '@quoin/kvstore-client'
import { openDevWallet } from '@quoin/kvstore-client/dev-wallet'

const host = new URLSearchParams(location.search).get('host') ?? 'http://localhost:8080'
const STATE = 'dev wallet'
/** For a wallet app of its user, a page has `new WalletClient()` of @bsv/sdk instead. */
const wallet = await openDevWallet({
  node: host,
  storage: {
    load: async () => localStorage.getItem(STATE) ?? undefined,
    save: async state => localStorage.setItem(STATE, state)
  }
})
const kv = new GlobalKV({ wallet, host })
const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T

element<HTMLFormElement>('form').addEventListener('submit', async event => {
  event.preventDefault()
  await kv.set('name', element<HTMLInputElement>('name').value)
})

for await (const change of kv.watch({ key: 'name', controller: await kv.identity() })) {
  element('saved').textContent = change.kind === 'set' ? change.entry.value : ''
  const names = (await kv.history('name')).map(({ value }) => {
    const item = document.createElement('li')
    item.textContent = value
    return item
  })
  element('history').replaceChildren(...names)
}
