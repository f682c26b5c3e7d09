/** Writes the project: whole, or not at all. It is written to a temporary folder, which then takes the name, or gives its entries. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { FolderNotEmptyError, NotCreatedError } from './errors.ts'

export interface Project {
  /** Absolute. */
  readonly folder: string
  readonly name: string
  /** The folder that has its files. */
  readonly template: string
  /** The version of Millrace that the project depends on. */
  readonly version: string
  /** Further files, by name. */
  readonly files: Readonly<Record<string, string>>
}

/** In the manifests of templates, as in the workspace: the version of this package. */
const OWN_VERSION = 'workspace:^'
/** A folder that is only under version control counts as empty. */
const NO_CONTENT = new Set(['.git', '.DS_Store'])
const SHOWN_MAX = 3

/** @throws FolderNotEmptyError */
export function checkFolder(folder: string): void {
  if (!existsSync(folder)) return
  if (!statSync(folder).isDirectory()) throw new FolderNotEmptyError(`${folder} is a file. Choose another folder.`)
  const content = readdirSync(folder).filter((name) => !NO_CONTENT.has(name))
  if (content.length === 0) return
  const more = content.length > SHOWN_MAX ? `, and ${content.length - SHOWN_MAX} more` : ''
  throw new FolderNotEmptyError(
    `${folder} is not empty: it has ${content.slice(0, SHOWN_MAX).join(', ')}${more}. Choose another folder, or empty this one.`,
  )
}

/** @throws FolderNotEmptyError @throws NotCreatedError */
export function writeProject(project: Project): void {
  const { folder } = project
  checkFolder(folder)
  // A folder that is there may be a mount, or have a parent that cannot be written: all is done within it.
  const isThere = existsSync(folder)
  const parent = isThere ? folder : dirname(folder)
  let temporary: string | undefined
  try {
    mkdirSync(parent, { recursive: true })
    temporary = mkdtempSync(join(parent, `.${basename(folder)}-`))
    // Within it, because a temporary folder has a mode of its own.
    const whole = join(temporary, basename(folder))
    fill(whole, project)
    if (isThere) moveInto(whole, folder)
    else renameSync(whole, folder)
  } catch (cause) {
    throw new NotCreatedError(`${folder} cannot be created: ${(cause as Error).message}. Nothing of the project is there.`, { cause })
  } finally {
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true, maxRetries: 3 })
  }
}

function fill(folder: string, { name, template, version, files }: Project): void {
  cpSync(template, folder, { recursive: true, filter: (path) => basename(path) !== 'node_modules' })
  // npm leaves out files of the real name when it packs.
  renameSync(join(folder, 'gitignore'), join(folder, '.gitignore'))
  const manifest = readFileSync(join(folder, 'package.json'), 'utf8')
  const own = { ...JSON.parse(manifest.replaceAll(`"${OWN_VERSION}"`, `"^${version}"`)), name }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(own, undefined, 2)}\n`)
  const readme = join(folder, 'README.md')
  writeFileSync(
    readme,
    readFileSync(readme, 'utf8').replace(/^# .*$/m, () => `# ${name}`),
  )
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
}

/** Into a folder that is there and empty: entry by entry, and back if one fails. The manifest is last: without it, npm takes it for nothing. */
function moveInto(whole: string, folder: string): void {
  const names = readdirSync(whole).toSorted((a, b) => Number(a === 'package.json') - Number(b === 'package.json'))
  const moved: string[] = []
  try {
    for (const name of names) {
      renameSync(join(whole, name), join(folder, name))
      moved.push(name)
    }
  } catch (error) {
    for (const name of moved) rmSync(join(folder, name), { recursive: true, force: true })
    throw error
  }
}
