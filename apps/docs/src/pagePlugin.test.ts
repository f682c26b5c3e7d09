import { expect, test } from 'vitest'
import { emptyHeadsToCells, withBothImages, withRelativeImages } from './pagePlugin.ts'

test('images of a page are files beside it', () => {
  const html = '<source srcset="pictures/a.webp"><img alt="a" src="b.webp"><img src="../c.webp"><img src="https://host.test/d.webp">'
  expect(withRelativeImages(html)).toBe(
    '<source srcset="./pictures/a.webp"><img alt="a" src="./b.webp"><img src="../c.webp"><img src="https://host.test/d.webp">',
  )
})

test('a head of a table without a name is a cell', () => {
  const column = (content: string) => [
    { type: 'th_open', tag: 'th', content: '' },
    { type: 'inline', tag: '', content },
    { type: 'th_close', tag: 'th', content: '' },
  ]
  const tokens = [...column('name'), ...column('')]
  emptyHeadsToCells(tokens)
  expect(tokens.map(({ tag }) => tag)).toEqual(['th', '', 'th', 'td', '', 'td'])
})

test('a picture for light and dark colours becomes two images', () => {
  const picture = '<picture>\n  <source media="(prefers-color-scheme: dark)" srcset="d.webp">\n  <img alt="It" src="l.webp">\n</picture>'
  expect(withBothImages(`${picture}\n<img src="other.webp">`)).toBe(
    `<img class="in-light" loading="lazy" alt="It" src="l.webp"><img class="in-dark" loading="lazy" alt="It" src="d.webp">\n<img src="other.webp">`,
  )
})
