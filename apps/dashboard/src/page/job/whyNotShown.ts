import type { JobAnswer } from '../api/answers.ts'

export type PayloadName = 'data' | 'output' | 'checkpoint'

/** Says why the server has left out the text of a payload that exists. */
export function whyNotShown({ redacted, undecoded }: JobAnswer, name: PayloadName): 'hidden' | 'undecoded' | 'large' {
  if (undecoded?.includes(name)) return 'undecoded'
  return redacted?.includes(name) ? 'hidden' : 'large'
}
