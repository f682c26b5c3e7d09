/** The command that enqueues a job from a terminal. */
export function firstJobCommand(url: string, isOpen: boolean): string {
  const token = isOpen ? '' : `-H "Authorization: Bearer $TOKEN" `
  return `curl ${token}-H 'Content-Type: application/json' \\\n  -d '{"job":"hello","data":{"name":"Ada"}}' ${url}/v1/jobs`
}
