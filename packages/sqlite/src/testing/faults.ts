/** Returns a connection whose statements, chosen by their SQL, fail with an SQLite error before they do anything. */
import { type Database, type Statement, sqliteError } from '../driver.ts'

export function faultyStatements(db: Database, pattern: RegExp, code: string): Database {
  const fail = () => {
    throw sqliteError('injected', code)
  }
  return new Proxy(db, {
    get(target, property) {
      if (property === 'prepare') {
        return (sql: string): Statement => {
          const statement = target.prepare(sql)
          return pattern.test(sql) ? Object.assign(Object.create(statement), { run: fail }) : statement
        }
      }
      const value = Reflect.get(target, property)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
