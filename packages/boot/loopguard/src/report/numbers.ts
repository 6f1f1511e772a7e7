/** How numbers are written on a page: in English, whatever the machine speaks. */

const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

/** `41,645` */
export function number(value: number): string {
  return WHOLE.format(value)
}

/** `1 call`, `2 calls` */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${number(value)} ${value === 1 ? one : many}`
}

/** `523 ms`, `5.34 s`, `2 min 5 s`, `3 h 12 min`, `4 d 2 h` */
export function duration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (ms < 9995) return `${(ms / 1000).toFixed(2)} s`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return pair(seconds, 60, 'min', 's')
  const minutes = Math.round(seconds / 60)
  if (minutes < 24 * 60) return pair(minutes, 60, 'h', 'min')
  return pair(Math.round(minutes / 60), 24, 'd', 'h')
}

function pair(value: number, base: number, big: string, small: string): string {
  const rest = value % base
  return `${number(Math.floor(value / base))} ${big}${rest === 0 ? '' : ` ${rest} ${small}`}`
}

/** US dollars. */
export function money(value: number): string {
  if (value === 0) return '$0'
  if (value < 0.0001) return '< $0.0001'
  const digits = value < 0.1 ? 4 : 2
  return `$${value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })}`
}

/** `33 KiB`, `1.2 MiB` */
export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  return bytes < 1024 * 1024 ? `${number(bytes / 1024)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}

/** `2026-11-30 19:36:46 UTC` */
export function moment(ms: number): string {
  return dated(ms, 19, ' UTC')
}

/** `2026-11-30 19:36`, in UTC. */
export function minute(ms: number): string {
  return dated(ms, 16, '')
}

function dated(ms: number, length: number, zone: string): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? 'at no known time' : date.toISOString().slice(0, length).replace('T', ' ') + zone
}
