/** What an audit keeps of a call's target. */

/** As JSON. */
const LENGTH_MAX = 2_048

/** A target may be as long as whoever calls makes it: beyond 2 KiB of JSON it is `{ cut }`, what that begins with. */
export function boundedTarget(target: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const text = JSON.stringify(target)
  return text.length <= LENGTH_MAX ? target : { cut: text.slice(0, LENGTH_MAX) }
}
