import { expect, test } from 'vitest'
import { withRelativeImages } from './pagePlugin.ts'

test('images of a page are files beside it', () => {
  const html = '<source srcset="pictures/a.webp"><img alt="a" src="b.webp"><img src="../c.webp"><img src="https://host.test/d.webp">'
  expect(withRelativeImages(html)).toBe(
    '<source srcset="./pictures/a.webp"><img alt="a" src="./b.webp"><img src="../c.webp"><img src="https://host.test/d.webp">',
  )
})
