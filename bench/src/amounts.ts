/** Numbers and lengths of time as they are given to flags. */

const FACTORS: Readonly<Record<string, number>> = { '': 1, k: 1_000, m: 1_000_000 }
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 }

/** `200000`, `200_000`, `200k`, `1m`. */
export function countFlag(flag: string, text: string, min = 1): number {
  const found = /^([\d_]+(?:\.\d+)?)([km]?)$/i.exec(text)
  const count =
    found === null ? Number.NaN : Number((found[1] as string).replaceAll('_', '')) * (FACTORS[(found[2] as string).toLowerCase()] as number)
  if (!Number.isInteger(count) || count < min)
    throw new RangeError(`--${flag} takes a number from ${min} on, such as 5000, 200k or 1m, not '${text}'`)
  return count
}

/** `90s`, `10m`, `1h`: in seconds. */
export function secondsFlag(flag: string, text: string): number {
  const found = /^(\d+(?:\.\d+)?)([smh])$/.exec(text)
  if (found === null) throw new RangeError(`--${flag} takes a length of time such as 90s, 10m or 1h, not '${text}'`)
  return Number(found[1]) * (SECONDS[found[2] as string] as number)
}
