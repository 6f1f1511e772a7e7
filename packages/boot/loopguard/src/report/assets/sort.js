{
  // Sorts the table by the column whose heading is pressed; pressed again, the other way round.
  const table = document.getElementById('sessions')
  const heads = [...table.tHead.rows[0].cells]
  const body = table.tBodies[0]
  const compare = (a, b) =>
    a.dataset.value === undefined ? a.textContent.localeCompare(b.textContent, 'en') : a.dataset.value - b.dataset.value
  heads.forEach((head, column) => {
    head.firstElementChild.addEventListener('click', () => {
      const isNumber = head.classList.contains('n')
      const before = head.ariaSort
      const order = before === 'none' ? (isNumber ? 'descending' : 'ascending') : before === 'ascending' ? 'descending' : 'ascending'
      for (const other of heads) other.ariaSort = other === head ? order : 'none'
      const sign = order === 'ascending' ? 1 : -1
      body.append(...[...body.rows].sort((a, b) => sign * compare(a.cells[column], b.cells[column])))
    })
  })
}
