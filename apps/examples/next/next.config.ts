import type { NextConfig } from 'next'

const config: NextConfig = {
  serverExternalPackages: ['@millrace/engine'],
}
export default config
