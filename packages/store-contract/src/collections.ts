/** Key-values, hashes and sets: additions are found, removals are gone, and nothing else changes. */
import { deepStrictEqual as same } from 'node:assert/strict'
import type { Cases } from './index.ts'
import { del, hdel, hset, sadd, set, srem } from './steps.ts'
import { EVERYTHING } from './subject.ts'

export const values: Cases = {
  'a key that was never set has no value': async store => {
    same(await store.get('a'), undefined)
    same(await store.range(EVERYTHING), [])
  },
  'a key has the value it was set to': async store => {
    await store.commit(set('a', 'one'), set('b', 'two'))
    same(await store.get('a'), 'one')
    same(await store.get('b'), 'two')
    same(await store.get('c'), undefined)
  },
  'setting again replaces the value, by a shorter or a longer one': async store => {
    for (const value of ['middle', 's', 'much longer than it was', '']) {
      await store.commit(set('a', value))
      same(await store.get('a'), value)
    }
  },
  'an empty value is a value': async store => {
    await store.commit(set('a', ''))
    same(await store.get('a'), '')
    same(await store.range(EVERYTHING), [['a', '']])
  },
  'a deleted key has no value, and can be set again': async store => {
    await store.commit(set('a', '1'), set('b', '2'))
    await store.commit(del('a'))
    same(await store.get('a'), undefined)
    same(await store.range(EVERYTHING), [['b', '2']])
    await store.commit(set('a', '3'))
    same(await store.get('a'), '3')
  },
  'deleting what is not there does nothing': async store => {
    await store.commit(set('a', '1'))
    await store.commit(del('b'), del(''), del('aa'))
    same(await store.range(EVERYTHING), [['a', '1']])
  },
  'several values come in the order asked, as often as asked': async store => {
    await store.commit(set('a', '1'), set('b', 'x'.repeat(5000)), set('', ''), hset('c', 'f', 'no value'))
    same(await store.mget(['b', 'c', '', 'a', 'b']), ['x'.repeat(5000), undefined, '', '1', 'x'.repeat(5000)])
    same(await store.mget([]), [])
    const many = Array.from({ length: 2000 }, (_, i) => `k${i}`)
    await store.commit(...many.map(key => set(key, `of ${key}`)))
    same(
      await store.mget(many),
      many.map(key => `of ${key}`)
    )
  },
  'bytes that come back belong to the caller': async store => {
    await store.commit(set('a', 'mine'), hset('h', 'f', 'mine'))
    const { engine } = store
    const key = new Uint8Array([97])
    const hash = new Uint8Array([104])
    const [value, [again], [row], [field], [[another] = []]] = [
      await engine.reads.get(key),
      await engine.reads.mget([key]),
      await engine.reads.range(EVERYTHING),
      await engine.reads.hgetall(hash),
      await engine.reads.mhgetall([hash])
    ]
    const fields = [field?.field, field?.value, another?.field, another?.value]
    for (const bytes of [value, again, row?.key, row?.value, ...fields]) bytes?.fill(0)
    same(await store.get('a'), 'mine')
    same(await store.range(EVERYTHING), [['a', 'mine']])
    same(await store.hgetall('h'), [['f', 'mine']])
  }
}

export const hashes: Cases = {
  'a hash that was never written has no fields': async store => {
    same(await store.hget('h', 'f'), undefined)
    same(await store.hgetall('h'), [])
    same(await store.hmget('h', ['f', 'g']), [undefined, undefined])
    same(await store.hrange(EVERYTHING), [])
  },
  'a field has the value it was set to, in its hash only': async store => {
    await store.commit(hset('h', 'f', '1'), hset('h', 'g', '2'), hset('i', 'f', '3'))
    same(await store.hget('h', 'f'), '1')
    same(await store.hget('h', 'g'), '2')
    same(await store.hget('i', 'f'), '3')
    same(await store.hget('i', 'g'), undefined)
  },
  'setting a field again replaces its value': async store => {
    await store.commit(hset('h', 'f', '1'), hset('h', 'g', '2'))
    await store.commit(hset('h', 'f', ''))
    same(await store.hgetall('h'), [
      ['f', ''],
      ['g', '2']
    ])
  },
  'all fields come in the order of their bytes': async store => {
    const fields = ['\xff', 'b', '', 'a\0', 'a', '\0', 'B', '\x7f', '\x80', 'aa']
    await store.commit(...fields.map(field => hset('h', field, `of ${field}`)))
    same(
      await store.hgetall('h'),
      ['', '\0', 'B', 'a', 'a\0', 'aa', 'b', '\x7f', '\x80', '\xff'].map(field => [field, `of ${field}`])
    )
  },
  'several fields come in the order asked, as often as asked': async store => {
    await store.commit(hset('h', 'a', '1'), hset('h', 'b', '2'), hset('h', 'c', ''))
    same(await store.hmget('h', ['c', 'x', 'a', 'c', 'b']), ['', undefined, '1', '', '2'])
    same(await store.hmget('h', []), [])
  },
  'a hash is read in pages, narrow or wide': async store => {
    const wide = Array.from({ length: 3000 }, (_, i) => `f${i}`)
    await store.commit(
      hset('h', 'a', '1'),
      hset('h', '', '2'),
      hset('h', 'b', '3'),
      ...wide.map(field => hset('w', field, field.repeat(10)))
    )
    const narrow = [
      ['', '2'],
      ['a', '1'],
      ['b', '3']
    ]
    for (const count of [1, 2, 3, 4]) same(await store.hscan('h', count), narrow)
    const expected = wide.map(field => [field, field.repeat(10)]).sort()
    for (const count of [7, 1000, 3000, 3001]) same(await store.hscan('w', count), expected)
    const { fields } = await store.engine.reads.hscan(new Uint8Array([119]), undefined, 100)
    same(fields.length < 300, true)
    same(await store.hscan('x', 10), [])
    await store.commit(...wide.slice(10).map(field => hdel('w', field)), hset('w', 'new', 'v'))
    same(await store.hscan('w', 4), [
      ...expected.filter(([field]) => wide.indexOf(field!) < 10),
      ['new', 'v']
    ])
  },
  'several hashes come in the order asked, each with its fields in theirs': async store => {
    const wide = Array.from({ length: 100 }, (_, i) => `f${i}`).sort()
    await store.commit(
      hset('h', 'b', '2'),
      hset('h', 'a', '1'),
      hset('i', '', ''),
      set('j', 'no hash'),
      ...wide.map(field => hset('w', field, field.repeat(50)))
    )
    const ofH = [
      ['a', '1'],
      ['b', '2']
    ]
    const ofW = wide.map(field => [field, field.repeat(50)])
    same(await store.mhgetall(['i', 'j', 'h', 'w', 'h']), [[['', '']], [], ofH, ofW, ofH])
    same(await store.mhgetall([]), [])
  },
  'a hash exists while it has fields, whatever else has its name': async store => {
    const wide = Array.from({ length: 100 }, (_, i) => `f${i}`)
    await store.commit(
      hset('h', '', ''),
      set('j', 'no hash'),
      ...wide.map(field => hset('w', field, field.repeat(50)))
    )
    same(await store.mhexists(['w', 'j', 'h', 'x', 'h']), [true, false, true, false, true])
    same(await store.mhexists([]), [])
    await store.commit(hdel('h', ''), ...wide.slice(1).map(field => hdel('w', field)))
    same(await store.mhexists(['h', 'w']), [false, true])
    await store.commit(hdel('w', wide[0]!))
    same(await store.mhexists(['h', 'w']), [false, false])
  },
  'a hash ends with its last field': async store => {
    await store.commit(hset('h', 'f', '1'), hset('h', 'g', '2'), hset('i', 'f', '3'))
    await store.commit(hdel('h', 'f'))
    same(await store.hgetall('h'), [['g', '2']])
    await store.commit(hdel('h', 'g'))
    same(await store.hgetall('h'), [])
    same(await store.hrange(EVERYTHING), [['i', [['f', '3']]]])
  },
  'deleting a field that is not there does nothing': async store => {
    await store.commit(hset('h', 'f', '1'))
    await store.commit(hdel('h', 'g'), hdel('i', 'f'), hdel('h', ''))
    same(await store.hrange(EVERYTHING), [['h', [['f', '1']]]])
  },
  'a hash can begin again after it ended': async store => {
    await store.commit(hset('h', 'f', '1'))
    await store.commit(hdel('h', 'f'))
    await store.commit(hset('h', 'g', '2'))
    same(await store.hrange(EVERYTHING), [['h', [['g', '2']]]])
  }
}

export const sets: Cases = {
  'a set that was never written has no members': async store => {
    same(await store.sismember('s', 'a'), false)
    same(await store.smembers('s'), [])
  },
  'a set has the members added to it, each once, in the order of their bytes': async store => {
    await store.commit(...['b', '\xff', '', 'a', 'b', 'a\0', '\0', 'aa'].map(member => sadd('s', member)))
    same(await store.smembers('s'), ['', '\0', 'a', 'a\0', 'aa', 'b', '\xff'])
    same(await store.sismember('s', 'b'), true)
    same(await store.sismember('s', ''), true)
    same(await store.sismember('s', 'c'), false)
    same(await store.sismember('t', 'b'), false)
  },
  'a removed member is gone, and removing it again does nothing': async store => {
    await store.commit(sadd('s', 'a'), sadd('s', 'b'), sadd('t', 'a'))
    await store.commit(srem('s', 'a'))
    await store.commit(srem('s', 'a'), srem('u', 'a'))
    same(await store.smembers('s'), ['b'])
    same(await store.smembers('t'), ['a'])
    same(await store.sismember('s', 'a'), false)
  },
  'a set ends with its last member, and can begin again': async store => {
    await store.commit(sadd('s', 'a'))
    await store.commit(srem('s', 'a'))
    same(await store.smembers('s'), [])
    await store.commit(sadd('s', 'b'))
    same(await store.smembers('s'), ['b'])
  }
}
