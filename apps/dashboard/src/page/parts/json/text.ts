/** Sentences of payloads. */
import { count } from '../../format/numbers.ts'

export const JSON_TEXT = {
  more: (shown: number, left: number) => `${count(shown)} of ${count(left)} more`,
  wholeString: (length: number) => `all ${count(length)} characters`,
  items: (number: number) => `${count(number)}`,
  hidden: 'hidden',
  cut: '… cut here',
  none: 'None.',
  notShown: 'It is too large, encoded, or has hidden values: download it to see it.',
  cutAt: (shown: string) => `The first ${shown} are shown.`,
  bytes: 'Bytes, shown as base64.',
  download: 'Download',
  raw: 'It is not JSON: this is the text as it is stored.',
} as const
