// A report as a Markdown table: one row for each figure.

/** @param {{ title: string, rows: { name: string, value: string, beside?: string, ratio?: string }[], head?: string[] }} report `head` for other columns */
export function tableOf({ title, rows, head = ['', 'ours', 'beside', 'ratio'] }, heading = '###') {
  const lines = rows.map(({ name, value, beside = '', ratio = '' }) => [name, value, beside, ratio].slice(0, head.length))
  const widths = head.map((cell, column) => Math.max(3, cell.length, ...lines.map((line) => line[column].length)))
  const row = (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`
  return [`${heading} ${title}`, '', row(head), row(widths.map((width) => '-'.repeat(width))), ...lines.map(row)].join('\n')
}
