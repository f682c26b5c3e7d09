/** Millrace in Fastify: a plugin. */
export { type MillraceAppOptions, type MillracePluginOptions, millrace, millrace as default } from './plugin.ts'
