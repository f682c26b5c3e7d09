/** Returns the name of an option as flags and settings write it: `max-attempts` for `maxAttempts`. */
export function flagName(option: string): string {
  return option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
