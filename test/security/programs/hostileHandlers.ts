/** Handlers that say what their data says, through everything that a job can say something with. */
import { defineJob } from '@millrace/worker'

class Named extends Error {
  constructor(name: string, message: string) {
    super(message)
    this.name = name
  }
}

export const hostile = defineJob<{ text: string }>({ name: 'hostile', maxAttempts: 1 }).handler(({ data, log, progress, checkpoint }) => {
  log('warn', data.text, { [data.text]: data.text })
  progress(0.5, data.text)
  checkpoint({ [data.text]: data.text })
  throw new Named(data.text, data.text)
})

export const returning = defineJob<{ text: string }>({ name: 'returning' }).handler(({ data }) => ({ [data.text]: data.text }))
