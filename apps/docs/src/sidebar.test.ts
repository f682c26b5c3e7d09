import { expect, test } from 'vitest'
import { sidebarOf } from './sidebar.ts'

const page = (path: string, label: string) => ({ label, path, within: [] })

test('pages, folders of pages and folders of the repository', () => {
  const groups = [
    { name: 'Start', entries: [page('README.md', 'Quick start'), page('apps/examples', 'Examples')] },
    {
      name: 'Proof',
      entries: [{ label: 'Why', path: 'docs/why', within: [page('docs/why/1.md', '1. So'), page('docs/why/2.md', '2. Thus')] }],
    },
  ]
  expect(sidebarOf(groups, 'https://host.test/it')).toEqual({
    '/': [
      {
        text: 'Start',
        items: [
          { text: 'Quick start', link: '/quick-start' },
          { text: 'Examples', link: 'https://host.test/it/tree/main/apps/examples' },
        ],
      },
      { text: 'Proof', items: [{ text: 'Why', link: '/why/1' }] },
    ],
    '/why/': [
      { text: 'All documentation', link: '/' },
      {
        text: 'Why',
        items: [
          { text: '1. So', link: '/why/1' },
          { text: '2. Thus', link: '/why/2' },
        ],
      },
    ],
  })
})
