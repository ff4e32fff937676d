/** The engine on PostgreSQL. */
export { openPostgres, type PostgresOptions } from './postgres.ts'
