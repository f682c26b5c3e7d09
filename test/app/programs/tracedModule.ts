/** On a thread of its own. */
export function handler(): string {
  return 'there'
}
