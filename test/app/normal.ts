/** Makes output of the command line comparable from run to run. */

/** Returns the text without ids, times, processes, ports and folders, and without the width of tables that have them. */
export function normal(text: string): string {
  return text
    .replace(/\bmr_[\w-]{43}/g, 'TOKEN')
    .replace(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, 'ID')
    .replace(/worker-[\da-f]{8}/g, 'WORKER')
    .replace(/\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT/g, 'DATE')
    .replace(/\d{4}-\d\d-\d\d[T ][\d:]{8}(?:\.\d+)?Z/g, 'TIME')
    .replace(/\[\d\d:\d\d:\d\d\.\d{3}\]/g, '[TIME]')
    .replace(/(?<="durationMs":)\d+/g, 'MS')
    .replace(/\b(?:[\d.]+(?:ms|s)|\d+m \d+s)(?= ago)/g, 'SPAN')
    .replace(/(?<=process )\d+/g, 'PID')
    .replace(/(?<=^owner +process PID on )\S+/gm, 'HOST')
    .replace(/^(\S+ +)\d+ +\S+(?= +(?:idle|busy) )/gm, '$1PID HOST')
    .replace(/127\.0\.0\.1:\d+/g, 'ADDRESS')
    .replace(/(?:\/[\w.-]+)+(?=\/(?:millrace\.db|worker\.log))/g, 'FOLDER')
    .replace(/ {2,}/g, '  ')
    .replace(/ +$/gm, '')
    .trim()
}
