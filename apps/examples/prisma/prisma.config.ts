import { defineConfig } from 'prisma/config'

export default defineConfig({ schema: 'sqlite.prisma' })
