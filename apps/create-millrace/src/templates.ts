/** The templates: a row of this table for each folder of `templates`. */
import { fileURLToPath } from 'node:url'
import { nearest } from '@millrace/core'
import { UsageError } from './errors.ts'

export interface Template {
  readonly name: string
  /** One line, for the question and the help. */
  readonly about: string
  /** The commands to try first, each with its reason. */
  readonly first: readonly (readonly [script: string, why: string])[]
}

export const TEMPLATES: readonly Template[] = [
  {
    name: 'embedded',
    about: 'the engine inside your process, with retries, a schedule and a graceful stop',
    first: [['start', 'runs the jobs; Ctrl-C stops it']],
  },
  {
    name: 'web-worker',
    about: 'an HTTP server that enqueues jobs, and a worker process that runs them',
    first: [
      ['start', 'starts the server'],
      ['worker', 'starts a worker, in a second terminal'],
    ],
  },
  {
    name: 'daemon',
    about: 'the queue as a service with a dashboard, and a worker process',
    first: [
      ['start', 'starts the daemon with its dashboard'],
      ['worker', 'starts a worker, in a second terminal'],
      ['job', 'creates a job, and prints its result'],
    ],
  },
]

const NAMES = TEMPLATES.map(({ name }) => name)

/** @throws UsageError if no template has that name */
export function templateOf(name: string): Template {
  const template = TEMPLATES.find((one) => one.name === name)
  if (template !== undefined) return template
  const meant = nearest(name, NAMES)
  const hint = meant === undefined ? '.' : `; did you mean '${meant}'?`
  throw new UsageError(`there is no template '${name}'${hint} Choose one of ${NAMES.join(', ')}.`)
}

/** The folder of a template, in the sources as in the package. */
export const folderOf = ({ name }: Template): string => fileURLToPath(new URL(`../templates/${name}`, import.meta.url))
