/** Whether a server takes writes, and has replicas that take them, from its reply to INFO. */
import { QuoinError } from '@quoin/primitives'

export const needWritableServer = (facts: ReadonlyMap<string, string>, replicas: number): void => {
  if (facts.get('role') === 'slave' && facts.get('slave_read_only') !== '0') {
    throw new QuoinError('ERR_STORE_READ_ONLY', 'the server is a read-only replica; name its master instead')
  }
  if (facts.get('aof_last_write_status') === 'err' || facts.get('rdb_last_bgsave_status') === 'err') {
    throw new QuoinError('ERR_STORE_FAILED', 'the server cannot write its files; its log says why')
  }
  const limit = Number(facts.get('maxmemory') ?? 0)
  if (limit > 0 && Number(facts.get('used_memory')) >= limit) {
    throw new QuoinError('ERR_STORE_FULL', `the server uses all of its ${limit} bytes of memory`)
  }
  const online = onlineReplicas(facts)
  if (online < replicas) {
    throw new QuoinError(
      'ERR_STORE_REPLICAS',
      `${online} replicas are online, and a batch has to be on ${replicas}; bring them back`,
      { expected: replicas, replicas: online }
    )
  }
}

/** `slave0:ip=127.0.0.1,port=6380,state=online,offset=14,lag=0` */
export const onlineReplicas = (facts: ReadonlyMap<string, string>): number =>
  [...facts].filter(([name, value]) => /^slave\d+$/.test(name) && value.includes('state=online')).length
