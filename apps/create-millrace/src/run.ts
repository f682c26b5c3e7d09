/** One run: reads the arguments, asks for what they leave out, writes the project and installs its packages. */
import { readFileSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { isErrorOf, UnsupportedRuntimeError } from '@millrace/core'
import { type Arguments, argumentsOf, FOLDER, HELP } from './arguments.ts'
import { askTemplate, openQuestions, type Terminal } from './ask.ts'
import { exitCodeOf, UsageError } from './errors.ts'
import { install, type Manager, managerOf, scriptOf } from './install.ts'
import { checkName } from './name.ts'
import { checkFolder, writeProject } from './project.ts'
import { folderOf, TEMPLATES, type Template, templateOf } from './templates.ts'

export interface Surroundings extends Terminal {
  readonly stderr: { write(text: string): unknown }
  readonly env: Readonly<Record<string, string | undefined>>
  readonly versions: { readonly node: string }
  cwd(): string
}

/** Returns the exit code. */
export async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    const given = argumentsOf(args)
    if (given.help) surroundings.stdout.write(HELP)
    else if (given.version) surroundings.stdout.write(`${version()}\n`)
    else await create(given, surroundings)
    return 0
  } catch (error) {
    if (!isErrorOf(error, 'MillraceError')) throw error
    surroundings.stderr.write(`create-millrace: ${error.message} (${error.code})\n`)
    return exitCodeOf(error)
  }
}

async function create(given: Arguments, surroundings: Surroundings): Promise<void> {
  const { stdout, env } = surroundings
  const { folder, name, template } = await answered(given, surroundings)
  checkRuntime(template, surroundings.versions.node)
  const manager = managerOf(env)
  writeProject({ folder, name, template: folderOf(template), version: version(), files: manager.files })
  stdout.write(`Created ${name} from the template ${template.name}, in ${folder}\n`)
  if (given.install) await install(manager, folder)
  stdout.write(nextSteps(template, manager, { from: surroundings.cwd(), folder, installed: given.install }))
}

interface Place {
  readonly folder: string
  readonly name: string
}

/** Checks the arguments, and asks for those that are missing. */
async function answered(given: Arguments, surroundings: Surroundings): Promise<Place & { readonly template: Template }> {
  // No folder would mend a wrong name.
  if (given.name !== undefined) checkName(given.name)
  const check = (answer: string): Place => {
    const folder = resolve(surroundings.cwd(), answer)
    checkFolder(folder)
    return { folder, name: checkName(given.name ?? basename(folder)) }
  }
  const chosen = given.template ?? (given.yes ? TEMPLATES[0]?.name : undefined)
  const template = chosen === undefined ? undefined : templateOf(chosen)
  const named = given.folder ?? (given.yes ? FOLDER : undefined)
  const place = named === undefined ? undefined : check(named)
  if (place !== undefined && template !== undefined) return { ...place, template }
  if (!isTerminal(surroundings))
    throw new UsageError(
      place === undefined
        ? 'name a folder for the project, for example my-app. See --help.'
        : `choose a template with --template: ${TEMPLATES.map(({ name }) => name).join(', ')}. See --help.`,
    )
  const { ask, close } = openQuestions(surroundings)
  try {
    const asked = place ?? (await ask(`Folder (${FOLDER}): `, (answer) => check(answer || FOLDER)))
    return { ...asked, template: template ?? templateOf(await askTemplate(ask)) }
  } finally {
    close()
  }
}

const isTerminal = ({ stdin, stdout }: Terminal): boolean => stdin.isTTY === true && stdout.isTTY === true

/** The projects are TypeScript that Node runs as it is. @throws UnsupportedRuntimeError */
function checkRuntime(template: Template, node: string): void {
  const { engines } = JSON.parse(readFileSync(join(folderOf(template), 'package.json'), 'utf8')) as {
    readonly engines: { readonly node: string }
  }
  const [major = 0, minor = 0] = engines.node.replace('>=', '').split('.').map(Number)
  const [ownMajor = 0, ownMinor = 0] = node.split('.').map(Number)
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return
  throw new UnsupportedRuntimeError(
    `the project requires Node ${major}.${minor} or newer, because Node runs its TypeScript files; this is Node ${node}`,
  )
}

/** The version of this package, which is that of all packages of Millrace. */
function version(): string {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { readonly version: string }
  return manifest.version
}

interface Situation {
  readonly from: string
  readonly folder: string
  readonly installed: boolean
}

function nextSteps({ first }: Template, manager: Manager, { from, folder, installed }: Situation): string {
  const path = relative(from, folder)
  const steps: (readonly [command: string, why: string])[] = [
    ...(path === '' ? [] : [[`cd ${/[^\w./\\-]/.test(path) ? `"${path}"` : path}`, ''] as const]),
    ...(installed ? [] : [[`${manager.name} install`, ''] as const]),
    [scriptOf(manager, 'test'), 'runs its tests'],
    ...first.map(([script, why]) => [scriptOf(manager, script), why] as const),
  ]
  const width = Math.max(...steps.map(([command]) => command.length))
  const lines = steps.map(([command, why]) => `  ${why === '' ? command : `${command.padEnd(width)}  # ${why}`}\n`)
  return `\nNext:\n\n${lines.join('')}\nREADME.md says what is where.\n`
}
