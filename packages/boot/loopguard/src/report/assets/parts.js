{
  // Draws the chosen part of a long session. Text goes into text nodes and attributes, never into markup.
  const { parts, calls, texts, worst } = JSON.parse(document.getElementById('data').textContent)
  const byId = (id) => document.getElementById(id)
  const english = new Intl.NumberFormat('en-US')

  const make =
    (space) =>
    (name, attributes, ...children) => {
      const element = document.createElementNS(space, name)
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
      element.append(...children)
      return element
    }
  const svg = make('http://www.w3.org/2000/svg')
  const html = make('http://www.w3.org/1999/xhtml')

  const text = (index) => texts[index]
  const rowOf = (at) => {
    const [place, tone, count, time, name, args, fault, summary, result, ...reminders] = calls[at]
    const told = { name: text(name), args: text(args), fault: text(fault), summary: text(summary) || firstLine(text(result)) }
    return { number: at + 1, place, tone, count, time, ...told, result: text(result), reminders: reminders.map(text) }
  }
  const firstLine = (result) => shortened(result.trimStart().split('\n', 1)[0], 64)
  const shortened = (words, most) => (words.length <= most ? words : `${words.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`)

  const titleOf = (at) => {
    const { name, args, time, count, fault } = rowOf(at)
    const facts = [time, count === '–' ? 'does not count' : count === '1' ? '' : `${count} in a row`, fault]
    return `#${english.format(at + 1)} ${name} ${shortened(args, 200)}\n${facts.filter((fact) => fact !== '' && fact !== '–').join(', ')}`
  }

  const titled = (of, before = '') => svg('title', {}, of < 0 ? text(-1 - of) : before + titleOf(of))
  const linked = (of, mark) => (of < 0 ? mark : svg('a', { href: `#c${of + 1}`, tabindex: '-1' }, mark))

  const marks = {
    box: (x, y, width, height, classes, of) =>
      linked(of, svg('rect', { x: `${x}%`, y, width: `${width}%`, height, class: text(classes) }, titled(of))),
    words: (x, y, words, classes, within) =>
      within === 0
        ? svg('text', { x: `${x}%`, y, class: text(classes) }, text(words))
        : svg('svg', { x: `${x}%`, width: `${within}%`, height: y + 6 }, svg('text', { x: 6, y, class: text(classes) }, text(words))),
    rule: (x1, y1, x2, y2, classes) => svg('line', { x1: `${x1}%`, y1, x2: `${x2}%`, y2, class: text(classes) }),
    reminder: (x, y, of) =>
      linked(
        of,
        svg(
          'svg',
          { x: `${x}%`, y, class: 'at' },
          svg('path', { d: 'M0-6l6 6-6 6-6-6z', class: 'reminder' }, titled(of, 'reminder after ')),
        ),
      ),
  }

  const paint = ({ label, height, width, rows, axis, marks: drawn }) => {
    const size = { height, width: width ?? '100%' }
    const drawing = svg(
      'svg',
      { class: 'drawing', role: 'img', 'aria-label': label, ...size },
      ...drawn.map(([kind, ...mark]) => marks[text(kind)](...mark)),
    )
    const side = rows
      ? html('ol', { class: 'rows', 'aria-hidden': 'true' }, ...rows.map((row) => html('li', { title: row }, row)))
      : svg(
          'svg',
          { class: 'axis', height, 'aria-hidden': 'true' },
          ...axis.map(([y, text, classes]) => svg('text', { x: '100%', y: y + 4, class: `tick end ${classes}` }, text)),
        )
    return html('div', { class: 'picture' }, side, drawing)
  }

  const tableRows = (at) => {
    const row = rowOf(at)
    const cell = (classes, is, ...children) => html('td', { class: classes, 'data-is': is }, ...children)
    const told = () => [
      ...(row.fault === '' ? [] : [html('b', { class: row.fault === 'failed' ? 'bad' : 'bad late' }, row.fault), ' ']),
      html('span', {}, row.summary),
    ]
    const result = row.result === '' ? told() : [html('details', {}, html('summary', {}, ...told()), html('pre', {}, row.result))]
    const call = [html('i', { class: `dot tone${row.tone}` }), html('code', {}, html('b', {}, row.name), ` ${row.args}`)]
    return [
      html(
        'tr',
        { id: `c${row.number}` },
        cell('n', '#', String(row.number)),
        cell('', 'turn.step', row.place),
        html('td', { class: 'call' }, ...call),
        cell('n', 'in a row', row.count),
        cell('n', 'time', row.time),
        html('td', { class: 'result' }, ...result),
      ),
      ...row.reminders.map((text) =>
        html(
          'tr',
          { class: 'reminded' },
          html('td', { colspan: 2 }),
          html('td', { colspan: 4 }, html('i', { class: 'diamond' }), html('pre', {}, text)),
        ),
      ),
    ]
  }

  let chosen
  const choose = (index) => {
    if (index === chosen) return
    chosen = index
    const { label, from, to, timeline, runs } = parts[index]
    byId('part').value = index
    byId('which').textContent = `${label} (part ${english.format(index + 1)} of ${english.format(parts.length)})`
    for (const bar of byId('strip').querySelectorAll('rect')) bar.classList.toggle('chosen', Number(bar.dataset.part) === index)
    byId('timeline').replaceChildren(paint(timeline))
    byId('runs').replaceChildren(paint(runs))
    byId('rows').replaceChildren(...Array.from({ length: to - from }, (_none, at) => tableRows(from + at)).flat())
    byId('before').disabled = index === 0
    byId('after').disabled = index === parts.length - 1
  }

  /** A link to a call may lead into another part. */
  const follow = () => {
    const [, number] = /^#c(\d+)$/.exec(location.hash) ?? []
    const index = parts.findIndex(({ from, to }) => number - 1 >= from && number - 1 < to)
    if (index < 0) return
    choose(index)
    byId(`c${number}`).scrollIntoView({ block: 'center' })
  }

  byId('part').addEventListener('input', ({ target }) => choose(Number(target.value)))
  byId('before').addEventListener('click', () => choose(chosen - 1))
  byId('after').addEventListener('click', () => choose(chosen + 1))
  byId('strip').addEventListener('click', ({ target }) => {
    if (target.dataset.part !== undefined) choose(Number(target.dataset.part))
  })
  addEventListener('hashchange', follow)
  choose(worst)
  if (location.hash !== '') follow()
}
