/** Helpers for commands that take every setting of the configuration as a flag: `--http-port 8080`. */
import type { Command } from 'commander'

const TAKING = new WeakSet<Command>()

/** True for a command that takes every setting of the configuration as a flag. */
export function takesSettings(command: Command | undefined): boolean {
  return command !== undefined && TAKING.has(command)
}

/** Lets unknown flags pass. The configuration reads them, and rejects those that it does not know either. */
export function settingFlags(command: Command): Command {
  TAKING.add(command)
  return command.allowUnknownOption().allowExcessArguments()
}

export const SETTINGS_HELP = `
Each setting is a flag: --http-port 8080, --worker-concurrency=4.
--config <file> names the configuration file.
millrace config show lists all settings with their values.
`

/** The flags of the program that are settings, too. */
const SETTINGS = ['file', 'postgres', 'schema', 'token'] as const

/** Returns the arguments for the configuration, with those that the program has already parsed. */
export function settingsOf(command: Command): string[] {
  const { json, ...given } = command.optsWithGlobals<Partial<Record<(typeof SETTINGS)[number], string>> & { json?: boolean }>()
  return [
    ...SETTINGS.flatMap((name) => (given[name] === undefined ? [] : [`--${name}`, given[name]])),
    // A format that is given itself wins.
    ...(json === true && !command.args.some((each) => /^--log-format(=|$)/.test(each)) ? ['--log-format', 'json'] : []),
    ...command.args,
  ]
}
