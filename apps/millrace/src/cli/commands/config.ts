/** `millrace config`: shows the daemon's settings and their origins, and shows and changes the settings of queues at run time. */
import { retryLost } from '@millrace/client'
import { formatDuration } from '@millrace/core'
import type { Command } from 'commander'
import { getSetting, isDefault, kindOf, listSettings, SETTING_KEYS, setSetting, unreached } from '../../config/settings.ts'
import { SETTINGS_HELP, settingFlags, settingsOf } from '../configured.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { unknownCommand } from '../explain.ts'
import { defaultCommand } from '../groups.ts'
import { settingText } from '../view/setting.ts'
import { settingOf } from '../written.ts'

interface QueueFlag {
  readonly queue: string
}

export function addConfig(program: Command, context: Context): void {
  const { out, connect, env } = context
  const config = program.command('config').description('Show the settings of the daemon, and change those of queues')
  settingFlags(
    defaultCommand(config, 'show')
      .description('Show each setting of millrace serve with its value and where it comes from')
      .addHelpText('after', SETTINGS_HELP),
  ).action(async (_flags: unknown, command: Command) => {
    const [word = command.name()] = config.args
    if (word !== command.name() && !word.startsWith('-')) throw new UsageError(unknownCommand(word, config))
    const [{ flagsOf }, { loadConfig }] = await Promise.all([import('../../config/flags.ts'), import('../../config/load.ts')])
    const { settings } = await loadConfig({ ...flagsOf(settingsOf(command)), env, cwd: process.cwd() })
    await out.answer(
      { settings: settings.map(({ key, value, origin }) => ({ key, value, origin: origin.name, layer: origin.layer })) },
      () =>
        out.table(
          [
            { title: 'SETTING', text: ({ key }) => key },
            { title: 'VALUE', text: ({ value }) => valueText(value) },
            { title: 'FROM', text: ({ origin }) => origin.name },
          ],
          settings,
        ),
    )
  })
  config
    .command('set')
    .description('Change a setting of a queue at once; "none" removes it')
    .argument('<key>', SETTING_KEYS.join(', '))
    .argument('<value>')
    .option('--queue <name>', 'queue; default "default"', 'default')
    .action(async (key: string, value: string, { queue }: QueueFlag) => {
      const wanted = settingOf(key, value)
      const engine = await connect({ create: true })
      await setSetting(engine, key, wanted, { queue })
      const now = await retryLost(() => getSetting(engine, key, { queue }))
      await out.answer({ queue, key, value: now ?? null }, () => `${key} of ${queue} is ${storedText(key, now)}`)
      if (!isDefault(key)) return
      const { definitions } = await retryLost(() => engine.stats())
      const kept = unreached(key, definitions)
      out.note(
        `${key} applies to new jobs whose call and definition do not set it${kept.length === 0 ? '' : `. Set by the definitions of: ${listed(kept)}`}`,
      )
    })
  config
    .command('get')
    .description('Show a setting of a queue')
    .argument('<key>', SETTING_KEYS.join(', '))
    .option('--queue <name>', 'queue; default "default"', 'default')
    .action(async (key: string, { queue }: QueueFlag) => {
      const engine = await connect()
      const value = await retryLost(() => getSetting(engine, key, { queue }))
      await out.answer({ queue, key, value: value ?? null }, () => storedText(key, value))
    })
  config
    .command('list')
    .description('List the settings of a queue')
    .option('--queue <name>', 'queue; default "default"', 'default')
    .action(async ({ queue }: QueueFlag) => {
      const engine = await connect()
      const settings = await retryLost(() => listSettings(engine, { queue }))
      await out.answer({ queue, settings: settings.map(({ key, value }) => ({ key, value: value ?? null })) }, () =>
        out.table(
          [
            { title: 'SETTING', text: ({ key }) => key },
            { title: 'VALUE', text: ({ key, value }) => storedText(key, value) },
          ],
          settings,
        ),
      )
    })
}

/** Lists the first ten names, and the number of the others. */
function listed(names: readonly string[]): string {
  return names.length > 10 ? `${names.slice(0, 10).join(', ')} and ${names.length - 10} more` : names.join(', ')
}

/** Formats a setting of a queue as `config set` reads it. */
function storedText(key: string, value: unknown): string {
  const kind = kindOf(key)
  // Retention has its age alone here.
  if (kind?.type === 'keep' && typeof value === 'number') return formatDuration(value)
  return typeof (value ?? '') === 'string' ? valueText(value) : settingText(kind, value)
}

/** Formats a value as it would be written. */
function valueText(value: unknown): string {
  if (value === undefined || value === null) return '-'
  // JSON has no Infinity.
  return typeof value === 'string' || typeof value === 'number' ? String(value) : JSON.stringify(value)
}
