/** Prisma on SQLite, by a connection that an outbox shares. */
import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3'
import type Database from 'better-sqlite3'

/** The adapter of Prisma, which keeps the connection that it has opened. */
export class SharedConnection extends PrismaBetterSqlite3 {
  connection: Database.Database | undefined

  override async connect() {
    const adapter = await super.connect()
    this.connection = (adapter as unknown as { client: Database.Database }).client
    return adapter
  }
}
