/** Commands that take every setting of the configuration as a flag: `--http-port 8080`. */
import type { Command } from 'commander'

/** What it is not told of, the configuration reads, and refuses where it does not know it either. */
export function settingFlags(command: Command): Command {
  return command.allowUnknownOption().allowExcessArguments()
}

export const SETTINGS_HELP = `
Each setting is a flag: --http-port 8080, --worker-concurrency=4.
--config <file> names the configuration file.
millrace config show lists all settings with their values.
`

/** The arguments as the configuration reads them. The program has taken those that are its own as well: `--file`, `--token`, `--json`. */
export function settingsOf(command: Command): string[] {
  const { file, token, json } = command.optsWithGlobals<{ file?: string; token?: string; json?: boolean }>()
  return [
    ...(file === undefined ? [] : ['--file', file]),
    ...(token === undefined ? [] : ['--token', token]),
    ...(json === true ? ['--log-format', 'json'] : []),
    ...command.args,
  ]
}
