/** Whether a server takes writes, from its reply to INFO. */
import { QuoinError } from '../../keyspace/index.ts'

export const needWritableServer = (facts: ReadonlyMap<string, string>): void => {
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
}
