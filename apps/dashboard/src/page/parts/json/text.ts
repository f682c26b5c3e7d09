/** Sentences of payloads. */
import { count, counted } from '../../format/numbers.ts'

export const JSON_TEXT = {
  more: (shown: number, left: number) => `${count(shown)} of ${count(left)} more`,
  wholeString: (length: number) => `all ${counted(length, 'character')}`,
  items: (number: number) => `${count(number)}`,
  hidden: 'hidden',
  cut: '… cut here',
  none: 'None.',
  notShown: {
    hidden: 'Its values are hidden.',
    undecoded: 'The codec of the server cannot decode it: does it still have the key?',
    large: 'It is encoded, and too large to decode for a list: open the job, or download it.',
  },
  cutAt: (shown: string) => `The first ${shown} are shown.`,
  bytes: 'Bytes, shown as base64.',
  download: 'Download',
  raw: 'It is not JSON: this is the text as it is stored.',
} as const
