/** A chart of horizontal bars, in groups, as SVG. It brings its own ground, so that it can be read on a light page and on a dark one. */
import { escapeXml } from './text.ts'

export interface Bar {
  readonly label: string
  readonly value: number
  /** Behind the bar. */
  readonly text: string
  readonly kind: 'own' | 'limit' | 'other'
}

export interface Chart {
  readonly title: string
  readonly subtitle: string
  readonly groups: readonly { readonly title: string; readonly bars: readonly Bar[] }[]
}

const WIDTH = 760
const MARGIN = 20
const LABEL_WIDTH = 190
const TEXT_WIDTH = 170
const BAR_MAX = WIDTH - 2 * MARGIN - LABEL_WIDTH - TEXT_WIDTH
const BAR_MIN = 2
const HEAD_HEIGHT = 64
const GROUP_HEIGHT = 30
const ROW_HEIGHT = 24
const BAR_HEIGHT = 14

const STYLE = `
  .ground { fill: #ffffff; stroke: #d0d7de } .text { fill: #1f2328 } .quiet { fill: #59636e }
  .own { fill: #0969da } .limit { fill: #8c959f } .other { fill: #bf8700 }
  text { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif } .title { font-size: 16px; font-weight: 600 } .group { font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; stroke: #3d444d } .text { fill: #f0f6fc } .quiet { fill: #9198a1 }
    .own { fill: #4493f8 } .limit { fill: #656c76 } .other { fill: #d29922 }
  }`

export function bars({ title, subtitle, groups }: Chart): string {
  const max = Math.max(...groups.flatMap((group) => group.bars.map(({ value }) => value)), Number.MIN_VALUE)
  const lines: string[] = []
  let y = HEAD_HEIGHT
  for (const group of groups) {
    lines.push(text(MARGIN, y + 18, 'text group', group.title))
    y += GROUP_HEIGHT
    for (const bar of group.bars) {
      lines.push(...row(bar, y, max))
      y += ROW_HEIGHT
    }
  }
  const height = y + MARGIN
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    `<title>${escapeXml(title)}</title><desc>${escapeXml(subtitle)}</desc><style>${STYLE}\n</style>`,
    `<rect class="ground" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8"/>`,
    text(MARGIN, 28, 'text title', title),
    text(MARGIN, 48, 'quiet', subtitle),
    ...lines,
    '</svg>\n',
  ].join('\n')
}

function row({ label, value, text: said, kind }: Bar, y: number, max: number): string[] {
  const length = Math.max(BAR_MIN, Math.round((value / max) * BAR_MAX))
  const x = MARGIN + LABEL_WIDTH
  return [
    text(MARGIN, y + 13, 'text', label),
    `<rect class="${kind}" x="${x}" y="${y + 2}" width="${length}" height="${BAR_HEIGHT}" rx="2"/>`,
    text(x + length + 8, y + 13, 'quiet', said),
  ]
}

function text(x: number, y: number, className: string, content: string): string {
  return `<text class="${className}" x="${x}" y="${y}">${escapeXml(content)}</text>`
}
