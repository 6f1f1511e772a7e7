{
  // What a cap spares: each text was made when the page was.
  const { caps } = JSON.parse(document.getElementById('data').textContent)
  const cap = document.getElementById('cap')
  const show = () => {
    document.getElementById('at').textContent = cap.value
    document.getElementById('spared').textContent = caps.texts[cap.value - caps.least]
  }
  if (cap) {
    cap.addEventListener('input', show)
    // A browser may have kept where it stood.
    show()
  }
}
