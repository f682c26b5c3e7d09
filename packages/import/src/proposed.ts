/** Commands that an import proposes. Names come from the other queue, and people paste commands into shells. */

/** Characters that no POSIX shell looks at. */
const PLAIN = /^[A-Za-z0-9_.:/@%+=,-]+$/

/** Returns a command line. Each word stands for itself, whatever is in it, and a name that begins with a hyphen is no option. */
export function proposed(words: readonly string[], ...names: readonly string[]): string {
  const end = names.some((name) => name.startsWith('-')) ? ['--'] : []
  return ['millrace', ...words, ...end, ...names].map(quoted).join(' ')
}

function quoted(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
