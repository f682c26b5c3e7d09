/** Helpers for commands that take every setting of the configuration as a flag: `--http-port 8080`. */
import type { Command } from 'commander'

/** Lets unknown flags pass. The configuration reads them, and rejects those that it does not know either. */
export function settingFlags(command: Command): Command {
  return command.allowUnknownOption().allowExcessArguments()
}

export const SETTINGS_HELP = `
Each setting is a flag: --http-port 8080, --worker-concurrency=4.
--config <file> names the configuration file.
millrace config show lists all settings with their values.
`

/** Returns the arguments for the configuration, with those that the program has already parsed: `--file`, `--token`, `--json`. */
export function settingsOf(command: Command): string[] {
  const { file, token, json } = command.optsWithGlobals<{ file?: string; token?: string; json?: boolean }>()
  return [
    ...(file === undefined ? [] : ['--file', file]),
    ...(token === undefined ? [] : ['--token', token]),
    ...(json === true ? ['--log-format', 'json'] : []),
    ...command.args,
  ]
}
