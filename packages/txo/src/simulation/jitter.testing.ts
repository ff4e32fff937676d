/**
 * An engine with pauses before it reads and before it commits: what runs at once meets in as many ways as there are, on
 * an engine too that never makes anybody wait.
 */
import { setImmediate } from 'node:timers/promises'
import type { Engine } from '@quoin/store'
import type { Random } from './random.testing.ts'

export const jittery = (engine: Engine, random: Random, isOn: () => boolean): Engine =>
  new Proxy(engine, {
    get(target, name) {
      const member = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      const call = (...args: unknown[]) => Reflect.apply(member, target, args)
      if (!PAUSED.has(String(name))) return call
      return async (...args: unknown[]) => {
        if (isOn()) for (let turns = pause(random); turns > 0; turns--) await setImmediate()
        return call(...args)
      }
    }
  })

/** Mostly short; now and then so long that others come to their end. */
const pause = (random: Random): number =>
  random.chance(0.06) ? random.between(10, 60) : random.between(0, 3)

const PAUSED = new Set(['get', 'range', 'hget', 'hmget', 'hgetall', 'hrange', 'zscore', 'zrows', 'commit'])
