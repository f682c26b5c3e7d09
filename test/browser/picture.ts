/** Takes a picture of a page: `node test/browser/picture.ts http://127.0.0.1:8080/docs --file docs.png --scheme dark`. */
import { parseArgs } from 'node:util'
import { findChromium } from './chromium.ts'
import { launch, openContext } from './launch.ts'

const HELP = `node test/browser/picture.ts URL [options]

  --file FILE        writes the PNG to FILE (picture.png)
  --scheme SCHEME    light or dark colours (light)
  --size WxH         the size of the window in CSS pixels (1280x800)
  --scale N          pixels of the picture for each CSS pixel (2)
  --whole            takes the whole page, not the window alone
  --wait TEXT        waits until the page shows TEXT
`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    file: { type: 'string', default: 'picture.png' },
    scheme: { type: 'string', default: 'light' },
    size: { type: 'string', default: '1280x800' },
    scale: { type: 'string', default: '2' },
    whole: { type: 'boolean', default: false },
    wait: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

const [url] = positionals
if (values.help || url === undefined) process.stdout.write(HELP)
else await takePicture(url)

async function takePicture(address: string): Promise<void> {
  const options = { viewport: readSize(values.size), deviceScaleFactor: readScale(values.scale), colorScheme: readScheme(values.scheme) }
  const found = await findChromium()
  if ('missing' in found) throw new Error(`no browser: ${found.missing}`)
  const browser = await launch(found)
  try {
    const page = await (await openContext(browser, options)).newPage()
    await page.goto(address)
    if (values.wait !== undefined) await page.getByText(values.wait).first().waitFor()
    await page.screenshot({ path: values.file, fullPage: values.whole })
  } finally {
    await browser.close()
  }
}

function readSize(text: string): { width: number; height: number } {
  const [, width, height] = /^([1-9]\d{1,4})x([1-9]\d{1,4})$/.exec(text) ?? []
  if (width === undefined) throw new RangeError(`--size must be a width and a height such as 1280x800, got ${text}`)
  return { width: Number(width), height: Number(height) }
}

function readScale(text: string): number {
  const scale = Number(text)
  if (!(scale >= 0.5 && scale <= 4)) throw new RangeError(`--scale must be between 0.5 and 4, got ${text}`)
  return scale
}

function readScheme(text: string): 'light' | 'dark' {
  if (text !== 'light' && text !== 'dark') throw new RangeError(`--scheme must be light or dark, got ${text}`)
  return text
}
