/** The commands that ask before they act: those that destroy something, or act on everything at once. */
import type { Command } from 'commander'
import { queueOf } from './commands/queues.ts'
import { scheduleOf } from './commands/schedules.ts'
import { assertEndpoint } from './commands/webhooks.ts'
import { confirm } from './confirm.ts'
import type { Context } from './context.ts'
import { shownCommands } from './groups.ts'

/**
 * `selected`: it asks if flags select its jobs. `every`: it asks if nothing narrows them down. `always`: it looks first, and asks itself.
 * Otherwise the question, after a look whether the thing that the argument names is there.
 *
 * @throws the error of a thing that is not there: nobody is asked about it
 */
type Asks = 'selected' | 'every' | 'always' | ((context: Context, argument: string) => Promise<string>)

/** Commands that are not listed act at once: what they change can be changed back, or is named by an id. */
export const ASKS = {
  'jobs cancel': 'selected',
  'jobs delete': 'selected',
  'jobs retry': 'every',
  'jobs run': 'every',
  'jobs update': 'every',
  'dlq retry': 'every',
  'dlq purge': 'always',
  'queues purge': 'always',
  'queues delete': async (context, name) => {
    await queueOf(context, name)
    return `Queue ${name} would be deleted with its settings, pauses and counters.`
  },
  'queues pause-all': async ({ connect }) => {
    await connect()
    return 'No job of any queue would start until millrace queues resume-all.'
  },
  'schedules delete': async (context, id) => {
    await scheduleOf(context, id)
    return `Schedule ${id} would be deleted.`
  },
  'token revoke': 'always',
  'webhooks disable': async (context, id) => {
    await assertEndpoint(context, id)
    return `Endpoint ${id} would be disabled, and its deliveries cancelled.`
  },
  'webhooks delete': async (context, id) => {
    await assertEndpoint(context, id)
    return `Endpoint ${id} would be deleted, and its deliveries cancelled.`
  },
} as const satisfies Readonly<Record<string, Asks>>

/** Adds --yes to the commands that ask, and the questions about one thing. */
export function askFirst(program: Command, context: Context): void {
  for (const [path, command] of leavesOf(program)) {
    const asks: Asks | undefined = Object.hasOwn(ASKS, path) ? ASKS[path as keyof typeof ASKS] : undefined
    if (asks === undefined) continue
    command.option('--yes', 'do not ask')
    if (typeof asks !== 'function') continue
    command.hook('preAction', async () => {
      const { yes } = command.opts<{ readonly yes?: boolean }>()
      if (yes !== true) await confirm(context, await asks(context, command.args[0] ?? ''), yes)
    })
  }
}

/** Returns the commands that do something, by their names with those of their groups. */
export function leavesOf(group: Command, above: readonly string[] = []): readonly (readonly [path: string, command: Command])[] {
  return shownCommands(group).flatMap((command) => {
    const names = [...above, command.name()]
    return command.commands.length === 0 ? [[names.join(' '), command] as const] : leavesOf(command, names)
  })
}
