// A PNG with a palette, a third as large as one of all colours: pictures of pages have few.
import { crc32, deflateSync } from 'node:zlib'

const MOST_COLOURS = 256

/** @param pixels - four bytes each; the fourth, how opaque it is, is left out. */
export function indexedPng({ width, height, pixels }) {
  const counts = new Map()
  for (let at = 0; at < pixels.length; at += 4) {
    const colour = colourAt(pixels, at)
    counts.set(colour, (counts.get(colour) ?? 0) + 1)
  }
  const palette = [...counts.keys()].toSorted((a, b) => counts.get(b) - counts.get(a)).slice(0, MOST_COLOURS)
  const indices = new Map([...counts.keys()].map((colour) => [colour, nearest(palette, colour)]))
  // Each line begins with the number of its filter: none.
  const lines = Buffer.alloc(height * (width + 1))
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) lines[y * (width + 1) + 1 + x] = indices.get(colourAt(pixels, (y * width + x) * 4))
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 3, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', head),
    chunk('PLTE', Buffer.from(palette.flatMap(partsOf))),
    chunk('IDAT', deflateSync(lines, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function colourAt(pixels, at) {
  return (pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2]
}

function partsOf(colour) {
  return [colour >> 16, (colour >> 8) & 255, colour & 255]
}

function nearest(palette, colour) {
  const [red, green, blue] = partsOf(colour)
  let best = [Infinity, 0]
  for (const [index, other] of palette.entries()) {
    const [r, g, b] = partsOf(other)
    const distance = (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2
    if (distance < best[0]) best = [distance, index]
  }
  return best[1]
}

function chunk(type, data) {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const body = Buffer.concat([Buffer.from(type), data])
  const check = Buffer.alloc(4)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}
