/** Why a job waits, in words of the server, with times of the page. */
import { dayMinute, minuteTime, type Zone } from '../../format/times.ts'

const DAY_MS = 86_400_000

/** Returns the sentence with its time as the page writes times: of today, or with the day. */
export function causeText(
  { message, until }: { readonly message: string; readonly until?: string | undefined },
  now: number,
  zone: Zone,
): string {
  if (until === undefined) return message
  const at = Date.parse(until)
  const shown = Math.abs(at - now) < DAY_MS / 2 ? minuteTime(at, zone) : dayMinute(at, zone)
  return message.replaceAll(until, shown)
}
