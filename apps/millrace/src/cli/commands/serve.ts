/** `millrace serve`: the daemon, in this process. Loaded when it is asked for: other commands are to start fast. */
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
    // It hears signals by itself: the first drains, a second one ends the process.
    context.takeOver(() => {})
    const { stdout, stderr } = context.out
    const exit = await runDaemon({ ...flagsOf(settingsOf(command)), env: context.env, cwd: process.cwd(), stdout, stderr })
    context.exitWith(exit)
  })
}
