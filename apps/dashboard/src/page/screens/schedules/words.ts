/** The times of a schedule in words: "every day at 03:00", "every 20 s". */

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December']
const NAMED: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
}

export interface Times {
  readonly cron?: string | undefined
  readonly every?: number | undefined
}

/** Undefined for an expression that has no short words: it is shown as it is. */
export function wordsOf({ cron, every }: Times): string | undefined {
  if (every !== undefined) return `every ${interval(every)}`
  return cron === undefined ? undefined : cronWords(cron.trim())
}

/** "20 s", "90 s", "6 h": the largest unit that divides it. */
export function interval(ms: number): string {
  const unit = UNITS.find(([, size]) => ms >= size && ms % size === 0)
  return unit === undefined ? `${ms} ms` : `${ms / unit[1]} ${unit[0]}`
}

function cronWords(cron: string): string | undefined {
  const fields = (NAMED[cron.toLowerCase()] ?? cron).split(/\s+/)
  // A field of seconds in front says nothing if it is 0; years are too rare for words.
  const [minute, hour, day, month, weekday] = fields.length === 6 && fields[0] === '0' ? fields.slice(1) : fields
  if (minute === undefined || hour === undefined || day === undefined || month === undefined || weekday === undefined) return undefined
  if (fields.length > 6 || (fields.length === 6 && fields[0] !== '0')) return undefined
  const time = timeWords(minute, hour)
  const days = dayWords(day, weekday)
  const months = monthWords(month)
  if (time === undefined || days === undefined || months === undefined) return undefined
  const isAt = time.startsWith('at ')
  return [...(days === '' && isAt ? ['every day'] : []), ...(isAt ? [days, months, time] : [time, days, months])]
    .filter((part) => part !== '')
    .join(' ')
}

function timeWords(minute: string, hour: string): string | undefined {
  const step = /^\*\/(\d+)$/.exec(minute)?.[1]
  if (minute === '*' || step !== undefined) {
    const every = step === undefined || step === '1' ? 'every minute' : `every ${step} minutes`
    const range = /^(\d+)-(\d+)$/.exec(hour)
    if (range !== null) return `${every} from ${clock(range[1], '0')} to ${clock(range[2], '59')}`
    return hour === '*' ? every : undefined
  }
  if (!/^\d+$/.test(minute)) return undefined
  const hours = /^\*(?:\/(\d+))?$/.exec(hour)
  if (hours !== null) {
    const every = hours[1] === undefined || hours[1] === '1' ? 'every hour' : `every ${hours[1]} hours`
    return minute === '0' ? every : `${every} at minute ${minute}`
  }
  const list = hour.split(',')
  return list.every((each) => /^\d+$/.test(each)) ? `at ${listed(list.map((each) => clock(each, minute)))}` : undefined
}

const clock = (hour = '', minute = '') => `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`

function dayWords(day: string, weekday: string): string | undefined {
  const isAnyDay = day === '*' || day === '?'
  if (weekday !== '*' && weekday !== '?') return isAnyDay ? weekdayWords(weekday) : undefined
  if (isAnyDay) return ''
  if (day.toUpperCase() === 'L') return 'on the last day of the month'
  const days = day.split(',')
  if (!days.every((each) => /^\d+$/.test(each))) return undefined
  return `on day${days.length > 1 ? 's' : ''} ${listed(days)} of the month`
}

function weekdayWords(weekday: string): string | undefined {
  const range = weekday.split('-')
  if (range.length === 2) {
    const [from, to] = range.map((each) => nameOf(each, DAYS, 0))
    return from === undefined || to === undefined ? undefined : `${from} to ${to}`
  }
  const names = weekday.split(',').map((each) => nameOf(each, DAYS, 0))
  return names.includes(undefined) ? undefined : `every ${listed(names as string[])}`
}

function monthWords(month: string): string | undefined {
  if (month === '*') return ''
  const names = month.split(',').map((each) => nameOf(each, MONTHS, 1))
  return names.includes(undefined) ? undefined : `in ${listed(names as string[])}`
}

/** A name by its number or its first three letters. Sunday is 0 and 7. */
function nameOf(text: string, names: readonly string[], first: number): string | undefined {
  if (/^\d+$/.test(text)) return names[(Number(text) - first) % (first === 0 ? 7 : 13)]
  return text.length === 3 ? names.find((name) => name.slice(0, 3).toUpperCase() === text.toUpperCase()) : undefined
}

function listed(parts: readonly string[]): string {
  return parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}
