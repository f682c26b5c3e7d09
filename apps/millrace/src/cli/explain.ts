/** Turns an error into a line on stderr that names its flag, or into JSON, and into its exit code. */

import { choiceMeant, type ErrorCategory, isError, optionHint } from '@millrace/core'
import type { Command } from 'commander'
import { CommanderError } from 'commander'
import { type ExitCode, exitCodeOf } from '../exit.ts'
import { jsonText, visible } from '../visible.ts'
import { pathOf } from './help.ts'
import type { Failure } from './worker/detach.ts'

export interface Explained {
  readonly exit: ExitCode
  readonly code: string
  readonly message: string
}

interface Thrown {
  readonly code?: unknown
  readonly retryable?: boolean
  readonly category?: ErrorCategory
  readonly option?: unknown
  readonly problems?: unknown
}

export function explain(error: unknown, command: Command | undefined): Explained {
  // Every error of commander is a usage error.
  if (error instanceof CommanderError) return { exit: 2, code: 'USAGE', message: usageText(error) }
  if (!isError(error)) return { exit: 1, code: 'INTERNAL', message: String(error) }
  const { code, option, problems } = error as Thrown
  if (typeof code !== 'string') return { exit: 1, code: 'INTERNAL', message: `${error.name}: ${error.message}` }
  // A configuration error has one line for each problem.
  const message = commandsFor(Array.isArray(problems) ? problems.join('; ') : error.message)
  const flag = typeof option === 'string' && command !== undefined ? flagOf(option, command) : undefined
  return {
    exit: exitCodeOf(error),
    code,
    message: flag === undefined ? message : `${flag}: ${message}`,
  }
}

/** Returns what another process needs in order to explain the error in the same way. */
export function failureOf(error: unknown): Failure {
  const { code, message } = explain(error, undefined)
  const { retryable = false, category = 'failure', option } = error as Thrown
  return { code, message, retryable, category, ...(typeof option === 'string' && { option }) }
}

/** A call of the library in an error of the engine: `queues.resume('mail')`. */
const CALL = /\bqueues\.(configure|delete|drain|purge|resume)\('?([^',)]+)'?[^)]*\)/g

/** Replaces the library's calls in the message with the commands that do the same. */
function commandsFor(message: string): string {
  return message.replace(
    CALL,
    (_, call: string, queue: string) => `millrace queues ${call === 'configure' ? 'set' : call} ${queue === 'name' ? '<name>' : queue}`,
  )
}

export function linesOf({ code, message }: Explained, json: boolean): string {
  return json ? jsonText({ error: { code, message } }) : `millrace: ${visible(message)} (${code})`
}

/** Returns commander's message in one line. For an unknown flag or command, it adds which one may be meant. */
function usageText({ code, message, command }: CommanderError & { readonly command?: Command }): string {
  const text = message.replace(/^error: /, '').replace(/\n/g, ' ')
  if (command === undefined) return text
  if (code === 'commander.missingArgument') return `${text}: ${pathOf(command)} ${command.usage().replace('[options] ', '')}`
  if (code === 'commander.unknownOption') {
    const hint = flagHint(text, command)
    return hint === undefined ? text : `${text.replace(/ \(Did you mean .*\)$/, '')}; ${hint}`
  }
  // A group without a command lists, so an excess argument was meant to be a command.
  const { parent } = command
  const word = parent?.args[0]
  if (code !== 'commander.excessArguments' || parent === null || word === undefined || word === command.name()) return text
  return unknownCommand(word, parent)
}

/** Returns the message about a word that is no command of its group, with the one that may be meant. */
export function unknownCommand(word: string, group: Command): string {
  const meant = choiceMeant(
    word,
    group.commands.map((each) => each.name()),
  )
  return `unknown command '${word}'${meant === undefined ? '' : ` (Did you mean ${meant}?)`}`
}

function flagHint(text: string, command: Command): string | undefined {
  const [, name] = /^unknown option '--([^'=]+)/.exec(text) ?? []
  if (name === undefined) return undefined
  const flags = new Map(
    [command, ...ancestorsOf(command)].flatMap((each) => each.options.map((option) => [option.attributeName(), option.long ?? ''])),
  )
  const camel = name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
  return optionHint(camel, new Set(flags.keys()), (option) => `'${flags.get(option)}'`)
}

/** Returns the flag or the argument that an option of the engine came from: `maxAttempts`, `tags[0]`, `unique.by`. */
function flagOf(option: string, command: Command): string | undefined {
  const parts = option.split(/[.[\]]+/).filter((part) => part !== '' && !/^\d+$/.test(part))
  const joined = parts.map((part, index) => (index === 0 ? part : `${part[0]?.toUpperCase()}${part.slice(1)}`)).join('')
  const wanted = [joined, ...parts.flatMap((part) => [part, part.replace(/s$/, '')])]
  const given = [command, ...ancestorsOf(command)]
  const options = given.flatMap((each) => each.options)
  const found = wanted.map((name) => options.find((each) => each.attributeName() === name)).find((each) => each !== undefined)
  if (found !== undefined) return found.long ?? found.short
  return command.registeredArguments.some((argument) => wanted.includes(argument.name()))
    ? `<${wanted.find((name) => command.registeredArguments.some((argument) => argument.name() === name))}>`
    : undefined
}

function ancestorsOf(command: Command): Command[] {
  return command.parent === null ? [] : [command.parent, ...ancestorsOf(command.parent)]
}
