/** The arguments of the command line. */
import { parseArgs } from 'node:util'
import { nearest } from '@millrace/core'
import { UsageError } from './errors.ts'
import { TEMPLATES } from './templates.ts'

export interface Arguments {
  readonly folder: string | undefined
  readonly template: string | undefined
  readonly name: string | undefined
  readonly install: boolean
  /** True if nothing is asked: what the arguments leave out has its default. */
  readonly yes: boolean
  readonly help: boolean
  readonly version: boolean
}

/** The folder that is suggested on a terminal. */
export const FOLDER = 'millrace-app'

const FLAGS = {
  template: { type: 'string', short: 't' },
  name: { type: 'string' },
  'no-install': { type: 'boolean' },
  yes: { type: 'boolean', short: 'y' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'V' },
} as const

export const HELP = `Create a project with Millrace, the durable job queue.

  npm create millrace@latest <folder> -- [flags]

  -t, --template <name>  ${TEMPLATES.map(({ name }) => name).join(', ')}
      --name <name>      name of the package; default the name of the folder
      --no-install       do not install the packages of the project
  -y, --yes              ask nothing: the folder is ${FOLDER}, the template ${TEMPLATES[0]?.name}
  -V, --version          print the version
  -h, --help             print this help

Without a folder or a template you are asked, if there is a terminal.

${TEMPLATES.map(({ name, about }) => `  ${name.padEnd(10)}  ${about}`).join('\n')}

Example:
  npm create millrace@latest my-app -- --template embedded
`

/** @throws UsageError */
export function argumentsOf(args: readonly string[]): Arguments {
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options: FLAGS,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  for (const token of tokens) if (token.kind === 'option') checkFlag(token)
  const [folder, ...more] = positionals
  if (more.length > 0)
    throw new UsageError(
      `name one folder, got ${positionals.join(' ')}. npm passes flags on only after --: npm create millrace@latest ${folder} -- --template ${
        TEMPLATES.find(({ name }) => more.includes(name))?.name ?? TEMPLATES[0]?.name
      }`,
    )
  const { template, name } = values as { readonly template?: string; readonly name?: string }
  return {
    folder,
    template,
    name,
    install: values['no-install'] !== true,
    yes: values.yes === true,
    help: values.help === true,
    version: values.version === true,
  }
}

function checkFlag({
  name,
  rawName,
  value,
}: {
  readonly name: string
  readonly rawName: string
  readonly value?: string | undefined
}): void {
  if (!(name in FLAGS)) {
    const meant = rawName.startsWith('--') ? nearest(name, Object.keys(FLAGS)) : undefined
    throw new UsageError(`${rawName} is unknown${meant === undefined ? '.' : `; did you mean --${meant}?`} See --help.`)
  }
  const { type } = FLAGS[name as keyof typeof FLAGS]
  if (type === 'string' && (value === undefined || value === '')) throw new UsageError(`${rawName} requires a value. See --help.`)
  if (type === 'boolean' && value !== undefined) throw new UsageError(`${rawName} takes no value, got '${value}'.`)
}
