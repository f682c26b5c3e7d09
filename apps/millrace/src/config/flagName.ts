/** Returns the name of an option as flags and settings write it: `max-attempts` for `maxAttempts`. */
export function flagName(option: string): string {
  return option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** True for an argument that is a flag, and no value: a negative number is a value, and so is `-`, which means stdin. */
export function isFlag(argument: string): boolean {
  return /^-(?:-|[a-z])/i.test(argument)
}

/** Returns the message about a flag that is followed by another flag in place of its value. */
export function valueMissing(flag: string, next: string): string {
  const joined = flag.startsWith('--') ? `${flag}=${next}` : `${flag}${next}`
  return `${flag} requires a value, and ${next} is a flag: give the value, or write ${joined} if that is the value`
}
