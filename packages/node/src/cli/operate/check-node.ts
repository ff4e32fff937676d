/** Checks of the node itself: how strangers reach it, and the parts of the one that runs. */
import type { NamedState } from '../../server/parts.ts'
import { localUrl, portState } from './check-machine.ts'
import { type Check, type Diagnosis, failure, ok, warning } from './diagnosis.ts'

const exposure: Check = {
  name: 'proxy',
  async run({ config: { host, trustProxy, chain } }) {
    const isLocal = /^(127\.|::1$|localhost$)/.test(host)
    if (trustProxy.length > 0)
      return [ok('proxy', `forwarded addresses are believed from ${trustProxy.join(', ')}`)]
    if (isLocal) {
      if (chain === 'dev') return []
      const remedy = 'behind a proxy on this machine, set trustProxy to loopback'
      return [warning('proxy', `only this machine reaches ${host}, and no proxy is trusted`, remedy)]
    }
    const remedy = 'put a proxy with a certificate before the node, and set trustProxy to its address'
    return [warning('proxy', `strangers reach ${host} without TLS, and clients take https only`, remedy)]
  }
}

const parts: Check = {
  name: 'node',
  async run({ config: { host, port } }) {
    if (port === 0 || (await portState(host, port)) !== 'node') return []
    const url = localUrl(host, port)
    const answer = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(10_000) })
    const { ready, checks } = (await answer.json()) as { ready: boolean; checks: readonly NamedState[] }
    return [
      ready
        ? ok('node', `the node at ${url} is ready`)
        : failure('node', `the node at ${url} is not ready`, 'mend the parts below; its log has more'),
      ...checks.flatMap(partDiagnosis)
    ]
  }
}

const partDiagnosis = ({ name, status, message = status }: NamedState): Diagnosis[] => {
  const remedy = 'quoin status says since when; docs/operate/troubleshoot.md has the parts'
  if (status === 'ok') return []
  return [
    status === 'error' ? failure(`node: ${name}`, message, remedy) : warning(`node: ${name}`, message, remedy)
  ]
}

export const NODE_CHECKS: readonly Check[] = [exposure, parts]
