export { openStore } from './open-store.ts'
export type { StoreOptions } from './options.ts'
export type { PostgresStore } from './store.ts'
