/** Questions on a terminal, for what the arguments leave out. */

import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { isErrorOf } from '@millrace/core'
import { InterruptedError } from './errors.ts'
import { TEMPLATES, templateOf } from './templates.ts'

export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Writable & { readonly isTTY?: boolean }
}

/** Asks until `accept` takes the answer: the message of an error is printed, and the question asked again. */
export type Ask = <Answer>(question: string, accept: (answer: string) => Answer) => Promise<Answer>

export interface Questions {
  /** @throws InterruptedError if the user ends the questions */
  readonly ask: Ask
  /** Gives the terminal back. */
  close(): void
}

export function openQuestions({ stdin, stdout }: Terminal): Questions {
  const lines = createInterface({ input: stdin, output: stdout })
  // Lines that were typed ahead wait here. Ctrl-C and Ctrl-D are read as keys, and end the lines: they cause no signal.
  const answers = lines[Symbol.asyncIterator]()
  const ask: Ask = async (question, accept) => {
    for (;;) {
      lines.setPrompt(question)
      lines.prompt()
      const { value, done } = await answers.next()
      if (done) throw new InterruptedError()
      try {
        return accept((value as string).trim())
      } catch (error) {
        if (!isErrorOf(error, 'MillraceError')) throw error
        stdout.write(`${error.message}\n`)
      }
    }
  }
  return { ask, close: () => lines.close() }
}

const [FIRST] = TEMPLATES.map(({ name }) => name) as [string]
const LIST = TEMPLATES.map(({ name, about }, index) => `  ${index + 1}  ${name.padEnd(10)}  ${about}\n`).join('')

/** Asks for a template by its number or its name. Enter takes the first one. */
export const askTemplate = (ask: Ask): Promise<string> =>
  ask(`\nTemplates:\n${LIST}Template (${FIRST}): `, (answer) =>
    answer === '' ? FIRST : (TEMPLATES[Number(answer) - 1] ?? templateOf(answer)).name,
  )
