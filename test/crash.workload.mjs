/** Batches that reveal torn writes: each writes to every structure, small and large, and counts itself. */
const bytes = text => new TextEncoder().encode(text)
const SETS = ['z:all', 'z:even', 'z:odd']
const COUNTER = [bytes('z:counter'), bytes('batches')]

const setsOf = n => (n % 50 === 0 ? SETS : [SETS[0], SETS[1 + (n % 2)]])

export const numberedBatch = (store, n) => {
  const name = bytes(`batch ${n}`)
  const batch = store
    .batch()
    .set(bytes(`v:${n}`), bytes(`${n}`.repeat(1 + (n % 200))))
    .hset(bytes(`h:${n}`), bytes('a'), bytes(`${n}`))
    .hset(bytes(`h:${n}`), bytes('b'), new Uint8Array(n % 3000))
    .hset(bytes('h:wide'), name, bytes(`${n}`))
    .sadd(bytes('s:all'), name)
    .zincrby(...COUNTER, 1)
  for (const set of setsOf(n)) batch.zadd(bytes(set), { member: name, score: n })
  store.queue(bytes('q:work')).enqueueIn(batch, name, n, 1)
  return batch
}

/** The parts of a batch in the store: all, none, or some of a torn one. */
export const partsOf = async (reads, n) => {
  const name = bytes(`batch ${n}`)
  const parts = {
    value: (await reads.get(bytes(`v:${n}`)))?.length === `${n}`.repeat(1 + (n % 200)).length,
    field: (await reads.hget(bytes(`h:${n}`), bytes('b')))?.length === n % 3000,
    wide: (await reads.hget(bytes('h:wide'), name)) !== undefined,
    member: await reads.sismember(bytes('s:all'), name)
  }
  for (const set of setsOf(n)) parts[set] = (await reads.zscore(bytes(set), name)) === n
  return parts
}

/** Totals from the store's own counts. */
export const totals = async (store, to) => {
  const { due } = await store.queue(bytes('q:work')).stats()
  return {
    card: await store.zcard(bytes('z:all')),
    rows: (await store.zrange(bytes('z:all'))).length,
    counter: (await store.zscore(...COUNTER)) ?? 0,
    hashes: (await store.hrange(bytes('h:'))).length - (to > 0 ? 1 : 0),
    members: (await store.smembers(bytes('s:all'))).length,
    due
  }
}
