/** A stand-in for your mail service. Its first call fails, so that you see a retry. */
export type Mailer = (to: string, signal: AbortSignal) => Promise<void>

export function createMailer(): Mailer {
  let calls = 0
  return async (to) => {
    calls += 1
    if (calls === 1) throw new Error('the mail server is busy')
    console.log(`sent a mail to ${to}`)
  }
}
