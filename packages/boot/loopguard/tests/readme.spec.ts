import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { folder, ROOT, run } from './cli.ts'

const readme = readFileSync(join(ROOT, 'packages/boot/loopguard/README.md'), 'utf8')
const blocks = (language: string): string[] =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, block = '']) => block)

it('the README shows a composition that runs, and what it prints', async () => {
  const files = blocks('yaml').map((block) => [block.slice(2, block.indexOf('\n')), block] as const)
  expect(files.map(([name]) => name)).toEqual(['cordis.yml', 'script.yml'])
  const { code, out, err } = await run(['run'], { cwd: folder(Object.fromEntries(files)) })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(`${out}\n`).toBe(blocks('text')[0])
})
