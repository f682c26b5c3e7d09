/** The data of a test's job: says who it is, and of what length and content it must be. */

const PATTERN = 'abcdefghijklmnopqrstuvwxyz0123456789'

export function payload(marker: number, bytes: number): string {
  const shifted = PATTERN.slice(marker % PATTERN.length) + PATTERN.slice(0, marker % PATTERN.length)
  const filler = shifted.repeat(Math.ceil(bytes / PATTERN.length)).slice(0, bytes)
  return JSON.stringify({ marker, bytes, filler })
}

export function markerOf(data: unknown): number {
  return (JSON.parse(String(data)) as { marker: number }).marker
}
