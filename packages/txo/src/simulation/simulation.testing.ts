/**
 * One history from one seed, and whether the index is right after it. Everything that is drawn follows from the seed,
 * so a failure can be played again; only what crashes and what waits for a disk may come out otherwise the next time.
 */
import { checkRest } from './checks.testing.ts'
import { CrashTarget } from './crash.testing.ts'
import { Player, type Tally } from './player.testing.ts'
import { Random } from './random.testing.ts'
import { inFolder, inMemory, LocalTarget, onRedis, type Target } from './target.testing.ts'
import { World } from './world.testing.ts'

/** Where the index is, by name. */
export const VARIANTS = {
  memory: async (random, now) => LocalTarget.open(inMemory(), random, now),
  lmdb: async (random, now) => LocalTarget.open(await inFolder('lmdb'), random, now),
  level: async (random, now) => LocalTarget.open(await inFolder('level'), random, now),
  redis: async (random, now) => LocalTarget.open(await onRedis(), random, now),
  crash: (random, now) => CrashTarget.open(random, now)
} satisfies Record<string, (random: Random, now: () => number) => Promise<Target>>
export type Variant = keyof typeof VARIANTS

export interface SimulationOptions {
  readonly variant?: Variant
  readonly steps?: number
}

export class SimulationFailure extends Error {
  readonly seed: number
  readonly variant: Variant

  constructor(seed: number, variant: Variant, step: string, story: string, cause: unknown) {
    const reason = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
    super(`seed ${seed} on ${variant}, ${step}\n${story}\n${reason}`, { cause })
    this.name = 'SimulationFailure'
    this.seed = seed
    this.variant = variant
  }
}

/** Plays the history of a seed; throws unless everything is right. Answers how many operations came to what. */
export const simulate = async (
  seed: number,
  { variant = variantOf(seed), steps = 150 }: SimulationOptions = {}
): Promise<Tally> => {
  const random = new Random(seed)
  const world = new World(random, seed)
  const target = await VARIANTS[variant](random.fork(), () => world.now)
  const player = new Player(random, world, target)
  let step = 'at the beginning'
  try {
    await player.begin()
    for (let i = 1; i <= steps; i++) {
      step = `step ${i} of ${steps}`
      await player.step()
    }
    step = 'coming to rest'
    await player.rest()
    step = 'at rest'
    await checkRest(player)
    step = 'taking everything back'
    await player.takeEverythingBack()
    return player.counts
  } catch (error) {
    throw new SimulationFailure(seed, variant, step, player.story, error)
  } finally {
    await player.leave()
    await target.close()
  }
}

/** Most on the engine that costs nothing; the others now and then. */
export const variantOf = (seed: number): Variant => {
  if (seed % 100 === 50) return 'redis'
  if (seed % 50 === 30) return 'crash'
  if (seed % 20 === 10) return 'lmdb'
  if (seed % 50 === 20) return 'level'
  return 'memory'
}
