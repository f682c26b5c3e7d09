/** Millrace in Fastify: a plugin. */
export { type MillraceAppOptions, type MillracePluginOptions, millrace } from './plugin.ts'
