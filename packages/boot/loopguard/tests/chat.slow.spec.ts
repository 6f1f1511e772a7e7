import { describe, expect, it } from 'vitest'
import { GREETING, MODEL, call, chat, enter, go, leave, place, story } from './chat-stage.ts'

describe('a conversation', () => {
  it('shows what the model says, each call with its time and the first line of its result, and where the reminder acted', async () => {
    const terminal = await chat(
      place(
        `${call('look', '{ q: x }').replace('- ', '- text: I look.\n  ').trimEnd()}\n  repeat: 3\n- text: |-\n    All the same.\n    I stop.\n`,
      ),
    )
    await enter(terminal, 'look around')
    await terminal.until('I stop.')
    await leave(terminal)
    const look = '✔ look {"q":"x"} N s  first line'
    expect(story(terminal)).toEqual([
      GREETING,
      '> look around',
      'I look.',
      look,
      'I look.',
      look,
      'I look.',
      look,
      '◆ reminder: look ×3',
      'All the same.',
      'I stop.',
    ])
    expect(terminal.output).toContain('\u001b[33m◆ reminder: look ×3')
  })

  it('names what is waited for, and a timeout in red', async () => {
    const cwd = place(`${call('slow')}${call('late')}- text: done\n`)
    const terminal = await chat(cwd)
    await enter(terminal, 'go')
    await terminal.until((lines) => /^. slow \{\} [1-9]\.\d s · step 1$/.test(lines.at(-2) ?? '') && lines.at(-1) === '>')
    go(cwd)
    await terminal.until('done')
    await leave(terminal)
    expect(story(terminal)).toEqual([
      GREETING,
      '> go',
      '✔ slow {} N s  slept',
      '✖ late {} N s  Error: tool call timed out after 150ms',
      'done',
    ])
    expect(terminal.output).toMatch(new RegExp(String.raw`\x1b\[31m✖ late {} \d\.\d s {2}Error: tool call timed out`))
  })

  it('takes what is typed while it works before the next step; what is being typed is never torn', async () => {
    const cwd = place(`${call('noisy')}- text: I see.\n`)
    const terminal = await chat(cwd)
    await enter(terminal, 'go')
    await terminal.until('moan')
    terminal.type('stop the noi')
    await terminal.until((lines) => lines.at(-1) === '> stop the noi')
    const torn: string[] = []
    const before = terminal.lines.length
    await terminal.until((lines) => {
      // What arrives in the middle of a redrawing is no tear: other words in the line of what is being typed are.
      torn.push(...lines.filter((line) => line.includes('stop the noi') && line !== '> stop the noi'))
      return lines.length > before + 30
    })
    terminal.type('\u001b[D\u001b[D\u001b[Dmy ')
    await terminal.until((lines) => lines.at(-1) === '> stop the my noi' && terminal.cursor.column === 14)
    terminal.type('\u0005se\r')
    await terminal.until('> stop the my noise\n  (the model reads this before its next step)')
    await enter(terminal, '/queue')
    await terminal.until('before the next step: stop the my noise')
    go(cwd)
    await terminal.until('I see.')
    await enter(terminal, '/queue')
    await terminal.until('nothing waits')
    await leave(terminal)
    const noises = terminal.lines.filter((line) => line.startsWith('noise'))
    expect(noises).toEqual(noises.map((_, index) => `noise ${index + 1}`))
    expect(torn).toEqual([])
  })

  it('shows control characters and those that turn text around, and never sends them', async () => {
    const evil = String.raw`"\e]0;title\a\u202e\e[2J"`
    const terminal = await chat(place(`- text: ${evil}\n  calls: [{ name: look, arguments: ${evil} }]\n- text: ok\n`))
    terminal.type('\u0016\u202ehi\r')
    await terminal.until('ok')
    await leave(terminal)
    expect(story(terminal)).toContain(String.raw`\x1b]0;title\x07\u202e\x1b[2J`)
    expect(story(terminal).join('\n')).toContain(String.raw`look \x1b]0;title\x07\u202e\x1b[2J`)
    for (const sent of ['\u001b]0;', '\u001b[2J', '\u202e']) expect(terminal.output).not.toContain(sent)
  })

  it('takes text of several lines that is pasted as one message', async () => {
    const terminal = await chat(place('- text: read\n'))
    terminal.type('one\rtwo\rthree')
    await terminal.until('(2 more lines) > three')
    terminal.type('\r')
    await terminal.until('read')
    await leave(terminal)
    expect(story(terminal)).toEqual([GREETING, '> one', '> two', '> three', 'read'])
  })

  it('has a long line in as many rows as it needs, at any width', async () => {
    const terminal = await chat(place('- text: ok\n'), { columns: 60 })
    const text = 'word '.repeat(30).trim()
    terminal.type(text)
    await terminal.until((lines) => lines.slice(-3).join('') === `> ${text}`)
    terminal.resize(100)
    await terminal.until((lines) => lines.slice(-2).join('') === `> ${text}`)
    terminal.type('!\r')
    await terminal.until('ok')
    await leave(terminal)
    expect(terminal.lines.filter((line) => line.includes('word')).join(' ')).toContain('> word')
  })
})

it('Ctrl-Z gives the terminal away, and what was being typed is there again afterwards', async () => {
  const terminal = await chat(place('- text: ok\n'))
  terminal.type('half a li')
  await terminal.until((lines) => lines.at(-1) === '> half a li')
  const drawn = terminal.output.length
  terminal.type('\u001a')
  // Nobody could wake this process here, so the system does not stop it.
  await terminal.until((lines) => terminal.output.slice(drawn).includes('\r\u001b[J') && lines.at(-1) === '> half a li')
  terminal.type('ne\r')
  await terminal.until('ok')
  await leave(terminal)
  expect(story(terminal)).toEqual([GREETING, '> half a line', 'ok'])
})

it('--agent says whom to talk to', async () => {
  const agents =
    "- { name: '@loopguard/agent-loop', config: { agents: [{ id: a, provider: scripted, model: m, prompt: go }, { id: b, provider: scripted, model: n }] } }\n"
  const rows = ['llm', 'session', 'tools'].map((name) => `- name: '@loopguard/${name}'\n`).join('') + MODEL + agents
  const terminal = await chat(place('- text: ok\n', rows), { args: ['--agent', 'b'] })
  await enter(terminal, 'hi')
  await terminal.until('ok')
  await leave(terminal)
  expect(story(terminal)).toEqual([GREETING.replace('chat: scripted/scripted', 'b: scripted/n'), '> hi', 'ok'])
})

describe('a question', () => {
  const script = `${call('erase', '{ path: a }')}- text: next\n`

  it.each([
    ['y\r', 'yes', '✔ erase {"path":"a"} N s  erased'],
    ['n\r', 'no', '✖ erase {"path":"a"} N s  Error: approval of tool "erase" was rejected'],
    ['\r', 'no', '✖ erase {"path":"a"} N s  Error: approval of tool "erase" was rejected'],
  ])('is answered by %j with %s', async (typed, word, result) => {
    const terminal = await chat(place(script))
    await enter(terminal, 'go')
    await terminal.until((lines) => lines.at(-1) === 'y/N')
    terminal.type(typed)
    await terminal.until('next')
    await leave(terminal)
    expect(story(terminal)).toEqual([GREETING, '> go', 'allow erase {"path":"a"}? this is for good', `  ${word}`, result, 'next'])
  })

  it('puts aside what is being typed, takes only an answer for one, and gives it back', async () => {
    const terminal = await chat(place(`${call('slow')}${script}`))
    await enter(terminal, 'go')
    await terminal.until('slow {}')
    terminal.type('yes, I thi')
    await terminal.until((lines) => lines.at(-1) === '> yes, I thi')
    go(terminal.cwd)
    await terminal.until((lines) => lines.at(-1) === 'y/N')
    terminal.type('nk so\r')
    await terminal.until('y or n? Enter is no.')
    terminal.type('y\r')
    await terminal.until((lines) => lines.at(-1) === '> yes, I thi')
    expect(terminal.lines).toContain('allow erase {"path":"a"}? this is for good')
    expect(terminal.lines).toContain('  yes')
    terminal.type('\u0015')
    await leave(terminal)
  })

  it('goes with the turn that is cancelled', async () => {
    const terminal = await chat(place(script))
    await enter(terminal, 'go')
    await terminal.until((lines) => lines.at(-1) === 'y/N')
    terminal.type('\u0003')
    await terminal.until((lines) => lines.includes('turn ended: aborted (user)') && lines.at(-1) === '>')
    await leave(terminal)
    expect(story(terminal).slice(-2)).toEqual([
      '✖ erase {"path":"a"} N s  Error: tool call aborted before dispatch',
      'turn ended: aborted (user)',
    ])
  })
})
