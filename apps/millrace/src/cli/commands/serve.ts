/** `millrace serve`: runs the daemon in this process. Its code is loaded only when needed, so that other commands start fast. */
import type { Command } from 'commander'
import { SETTINGS_HELP, settingFlags, settingsOf } from '../configured.ts'
import type { Context } from '../context.ts'

export function addServe(program: Command, context: Context): void {
  settingFlags(
    program
      .command('serve')
      .description('Run the daemon: engine, HTTP API, sockets for workers, webhooks and commands')
      .addHelpText('after', SETTINGS_HELP),
  ).action(async (_flags: unknown, command: Command) => {
    const [{ flagsOf }, { runDaemon }] = await Promise.all([import('../../config/flags.ts'), import('../../serve/run.ts')])
    const { host, takeOver, exitWith } = context
    // The daemon handles signals itself: the first drains it, a second one ends the process.
    exitWith(await runDaemon({ ...flagsOf(settingsOf(command)), cwd: process.cwd() }, host, takeOver))
  })
}
