/** Unpacks archives of @sparticuz/chromium into `TMPDIR`: `node test/browser/inflate.ts ARCHIVE...`. The package knows no other place. */
import { inflate } from '@sparticuz/chromium'

await Promise.all(process.argv.slice(2).map((archive) => inflate(archive)))
