/** `millrace serve`: the daemon, in this process. */
import type { Command } from 'commander'
import { flagsOf } from '../../config/flags.ts'
import { runDaemon } from '../../serve/run.ts'
import { settingFlags, settingsHelp, settingsOf } from '../configured.ts'
import type { Context } from '../context.ts'

export function addServe(program: Command, context: Context): void {
  settingFlags(
    program
      .command('serve')
      .description('the queue as a daemon: engine, sockets for workers, HTTP, webhooks, commands; until SIGTERM or SIGINT')
      .addHelpText('after', settingsHelp),
  ).action(async (_flags: unknown, command: Command) => {
    // It hears signals by itself: the first drains, a second one ends the process.
    context.takeSignals(() => {})
    const { stdout, stderr } = context.out
    const exit = await runDaemon({ ...flagsOf(settingsOf(command)), env: context.env, cwd: process.cwd(), stdout, stderr })
    context.exitWith(exit)
  })
}
