/** The package manager that has started this program: it installs the project's packages, too. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { InstallError } from './errors.ts'

export interface Manager {
  readonly name: 'npm' | 'pnpm' | 'yarn' | 'bun'
  /** Its program, with the arguments that come first. */
  readonly command: readonly [file: string, ...args: string[]]
  /** Files that the manager needs beside the manifest, by name. */
  readonly files: Readonly<Record<string, string>>
}

const FILES: Readonly<Record<Manager['name'], Readonly<Record<string, string>>>> = {
  npm: {},
  pnpm: {},
  // Yarn 1 does not read it.
  yarn: { '.yarnrc.yml': 'nodeLinker: node-modules\n' },
  bun: {},
}

type Env = Readonly<Record<string, string | undefined>>

/** The manager that `npm_config_user_agent` names; npm if it names none of ours. */
export function managerOf(env: Env): Manager {
  const [, agent] = /^(npm|pnpm|yarn|bun)\//.exec(env['npm_config_user_agent'] ?? '') ?? []
  const name = (agent ?? 'npm') as Manager['name']
  const script = env['npm_execpath']
  // The very program that runs us, which need not be on the path.
  const own = agent !== undefined && script !== undefined && /\.[cm]?js$/.test(script)
  return { name, command: own ? [process.execPath, script] : [name], files: FILES[name] }
}

/** The command that runs a script of the project. */
export function scriptOf({ name }: Manager, script: string): string {
  return name === 'npm' && script !== 'start' && script !== 'test'
    ? `npm run ${script}`
    : `${name} ${script === 'test' && name === 'bun' ? 'run test' : script}`
}

/** Installs the packages of a project, with the manager's output on this terminal. @throws InstallError */
export async function install({ name, command: [file, ...args] }: Manager, folder: string): Promise<void> {
  const again = `The project is complete, but its packages are not installed. Run ${name} install in ${folder}.`
  // On Windows the managers are scripts of the shell.
  const child = spawn(file, [...args, 'install'], {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32' && args.length === 0,
  })
  const ended = once(child, 'close').catch((error: Error) => {
    throw new InstallError(`${name} could not be started: ${error.message}. ${again}`)
  })
  const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null]
  if (code !== 0)
    throw new InstallError(
      `${name} install ended with ${code ?? signal}: see above. ${again} It needs the network, unless its cache has every package.`,
    )
}
