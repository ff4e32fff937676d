/** The engine on Redis. */
export { openRedis, type RedisOptions } from './redis.ts'
