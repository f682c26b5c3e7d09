/** The command that reads a job from a terminal. */
export function curlOf(apiUrl: string, id: string, isOpen: boolean): string {
  const header = isOpen ? '' : `-H "Authorization: Bearer $QUEUE_TOKEN" `
  return `curl ${header}${quoted(`${apiUrl}/v1/jobs/${encodeURIComponent(id)}`)}`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
