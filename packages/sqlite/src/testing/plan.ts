/** Records every statement that is prepared on a connection, and asks SQLite how it would run each. */
import type { Database } from '../driver.ts'

/** Returns the statements that `work` prepares, in order. */
export function statementsOf(db: Database, work: (db: Database) => void): string[] {
  const statements: string[] = []
  const recording = new Proxy(db, {
    get(target, property) {
      if (property === 'prepare') {
        return (sql: string) => {
          statements.push(sql)
          return target.prepare(sql)
        }
      }
      const value = Reflect.get(target, property)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  work(recording)
  return statements
}

/** Returns the lines of EXPLAIN QUERY PLAN. */
export function planOf(db: Database, sql: string): string[] {
  const parameters = (sql.match(/\?/g) ?? []).map(() => null)
  const rows = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as { detail: string }[]
  return rows.map(({ detail }) => detail)
}
