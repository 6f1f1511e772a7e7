import { access } from 'node:fs/promises'
import { dirname, join } from 'node:path/posix'
import { describe, expect, it } from 'vitest'
import { pages, read, root } from './support/docs.ts'

const all = await pages()

/** How code hosts name the anchor of a heading. */
function anchorsOf(markdown: string): Set<string> {
  const headings = [...markdown.replaceAll(/^```.*?^```/gms, '').matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading as string)
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(/\s/g, '-'),
    ),
  )
}

describe.each(all)('$path', ({ path, text }) => {
  const prose = text.replaceAll(/^```.*?^```/gms, '')
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target as string).filter((target) => !/^[a-z]+:/.test(target))

  it('links to what is there', async () => {
    for (const link of links) {
      const [file = '', anchor] = link.split('#')
      const target = file === '' ? path : join(dirname(path), file)
      await expect(access(new URL(target, root)), `${path} links to ${link}`).resolves.toBeUndefined()
      if (anchor !== undefined) expect(anchorsOf(await read(target)), `${path} links to ${link}`).toContain(anchor)
    }
  })
})
