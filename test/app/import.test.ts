// `millrace import --from` without @millrace/import, and what its help says of that package.
import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { SOURCES } from '../../packages/import/src/sources.ts'
import { Place } from './millrace.ts'

test('if @millrace/import is not installed, the error says how to install it', async () => {
  const place = new Place()
  writeFileSync(
    place.path('hide.mjs'),
    `import { registerHooks } from 'node:module'
registerHooks({
  resolve: (name, context, next) => {
    if (name === '@millrace/import') throw Object.assign(new Error('hidden'), { code: 'ERR_MODULE_NOT_FOUND' })
    return next(name, context)
  },
})`,
  )
  place.env['NODE_OPTIONS'] = `--import=${place.path('hide.mjs')}`
  const { code, stderr } = await place.runProcess('import', '--from', 'bullmq', 'redis://localhost', '--json')
  expect({ code, error: JSON.parse(stderr).error }).toEqual({
    code: 2,
    error: {
      code: 'MISSING_PACKAGE',
      message: expect.stringMatching(/requires the package @millrace\/import: .*npm install @millrace\/import/),
    },
  })
})

test('the help names each queue that @millrace/import reads, and its default namespace', async () => {
  const help = (await new Place().ok('import', '--help')).replace(/\s+/g, ' ')
  expect(help).toContain(`each of them once: ${Object.keys(SOURCES).join(', ')}`)
  for (const [name, { namespace }] of Object.entries(SOURCES)) expect(help).toContain(`(${name}: ${namespace})`)
})

test.each(Object.entries(SOURCES))('%s: the URL of another store is refused', async (name, { example }) => {
  const { code, stderr } = await new Place().run('import', '--from', name, 'https://user:secret@host')
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: `millrace: --from: ${name} requires the URL of its store, such as ${example} (OPTION_RANGE)\n`,
  })
})
