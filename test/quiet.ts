/** Engines without a `logger` warn on stderr. Failed attempts are what tests are about: those lines are left out of their output. */
const write = process.stderr.write.bind(process.stderr) as (...all: unknown[]) => boolean

process.stderr.write = (text: unknown, ...rest: unknown[]) => /^millrace (?:warning|error): /.test(String(text)) || write(text, ...rest)
