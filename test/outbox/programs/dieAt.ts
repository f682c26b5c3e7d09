/** Ends this process by kill -9 at a chosen step of its outbox, the so-manieth time that it comes there. */
import { Socket } from 'node:net'
import type Database from 'better-sqlite3'

export const STEPS = ['write', 'written', 'commit', 'committed', 'send', 'answer', 'note', 'noted', 'drop', 'dropped'] as const
export type Step = (typeof STEPS)[number]

export function dieAt(connection: Database.Database, chosen: Step, count: number): void {
  let left = count
  const die = (step: Step) => {
    if (step === chosen && --left === 0) process.kill(process.pid, 'SIGKILL')
  }
  const around =
    <Args extends unknown[], Result>(call: (...args: Args) => Result, before: Step, after: Step) =>
    (...args: Args): Result => {
      die(before)
      const result = call(...args)
      die(after)
      return result
    }

  const prepare = connection.prepare.bind(connection)
  connection.prepare = ((sql: string) => {
    const statement = prepare(sql)
    const run = statement.run.bind(statement)
    if (/^INSERT INTO millrace_outbox/.test(sql)) statement.run = around(run, 'write', 'written')
    if (/^UPDATE millrace_outbox/.test(sql)) statement.run = around(run, 'note', 'noted')
    if (/^DELETE FROM millrace_outbox .* place <=/.test(sql)) statement.run = around(run, 'drop', 'dropped')
    return statement
  }) as typeof prepare
  const exec = connection.exec.bind(connection)
  const commit = around(exec, 'commit', 'committed')
  connection.exec = (sql: string) => (sql === 'COMMIT' ? commit(sql) : exec(sql))

  // To the server: the jobs, and back: that they are in the queue, of which nobody here has heard then.
  const { write, push } = Socket.prototype
  Socket.prototype.write = function (this: Socket, ...args: Parameters<typeof write>) {
    if (isOfEngine(this)) die('send')
    return write.apply(this, args)
  } as typeof write
  Socket.prototype.push = function (this: Socket, ...args) {
    if (args[0] !== null && isOfEngine(this)) die('answer')
    return push.apply(this, args)
  }
}

function isOfEngine(socket: Socket): boolean {
  return socket !== (process.stdout as unknown) && socket !== (process.stderr as unknown) && socket !== (process.stdin as unknown)
}
