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
    const faults = await Promise.all(
      links.map(async (link) => {
        const [file = '', anchor] = link.split('#')
        const target = file === '' ? path : join(dirname(path), file)
        const isThere = await access(new URL(target, root)).then(
          () => true,
          () => false,
        )
        if (!isThere) return [`${link}: there is no such file`]
        return anchor === undefined || anchorsOf(await read(target)).has(anchor) ? [] : [`${link}: there is no such heading`]
      }),
    )
    expect(faults.flat()).toEqual([])
  })
})
