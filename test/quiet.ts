/** Engines without a `logger` warn on stderr. Failed attempts are what tests are about: those lines are left out of their output. */
type Write = (...all: unknown[]) => boolean
const asItWas = Symbol.for('millrace.test.write')
const { stderr } = process as unknown as { readonly stderr: { write: Write & { [asItWas]?: Write } } }

// A process may run many test files, one after the other.
const write = stderr.write[asItWas] ?? stderr.write.bind(stderr)
stderr.write = Object.assign((...all: unknown[]) => /^millrace (?:warning|error): /.test(String(all[0])) || write(...all), {
  [asItWas]: write,
})
