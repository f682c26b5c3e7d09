/** The entries that the palette offers for a text: a job by its id, screens, queues, job names, and a search. */
import { JOB_ID, SHORT_ID } from '../../format/ids.ts'
import { jobLink, jobsLink, queueLink } from '../../router/links.ts'
import { TEXT } from '../../text.ts'

export interface Entry {
  readonly kind: string
  readonly label: string
  /** The path that it leads to, with its query, or what it does. */
  readonly to: string | (() => void)
}

export interface Known {
  readonly commands: readonly { readonly label: string; readonly run: () => void }[]
  readonly screens: readonly { readonly path: string; readonly title: string }[]
  readonly queues: readonly string[]
  readonly names: readonly { readonly queue: string; readonly name: string }[]
}

const MOST = 12

export function entriesOf(typed: string, known: Known): readonly Entry[] {
  const text = typed.trim()
  const named = [...screens(known), ...commands(known), ...queues(known), ...names(known)].filter(({ label }) => contains(label, text))
  const ranked = named.toSorted((a, b) => rank(a.label, text) - rank(b.label, text))
  return [...searches(text), ...ranked].slice(0, MOST)
}

/** An id, short or whole, leads to its job; all else is searched for, unless nothing was typed. */
function searches(text: string): readonly Entry[] {
  if (text === '') return []
  if (JOB_ID.test(text) || SHORT_ID.test(text))
    return [{ kind: TEXT.palette.job, label: TEXT.palette.open(text), to: jobLink(text.toLowerCase()) }]
  return [{ kind: TEXT.screens.jobs, label: TEXT.palette.find(text), to: jobsLink({ text }) }]
}

const screens = ({ screens }: Known) => screens.map(({ path, title }) => ({ kind: TEXT.palette.screen, label: title, to: path }))
const commands = ({ commands }: Known) => commands.map(({ label, run }) => ({ kind: TEXT.palette.command, label, to: run }))
const queues = ({ queues }: Known) => queues.map((name) => ({ kind: TEXT.palette.queue, label: name, to: queueLink(name) }))
const names = ({ names }: Known) =>
  names.map(({ queue, name }) => ({
    kind: TEXT.palette.name,
    label: `${queue} / ${name}`,
    to: jobsLink({ queue, name }),
  }))

function contains(label: string, text: string): boolean {
  return label.toLowerCase().includes(text.toLowerCase())
}

/** Labels that begin with the text come first, then those with a word that does. */
function rank(label: string, text: string): number {
  const at = label.toLowerCase().indexOf(text.toLowerCase())
  return at <= 0 ? at : /[\s/_.:-]/.test(label[at - 1] as string) ? 1 : 2
}
