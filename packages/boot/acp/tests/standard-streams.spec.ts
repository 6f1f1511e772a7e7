import { expect, it, onTestFinished, vi } from 'vitest'
import { takeStandardStreams } from '../src/wire.ts'

it('what others print goes to standard error, what the wire is given to standard output, until they are given back', async () => {
  const out: string[] = []
  const err: string[] = []
  const listeners = process.stdout.listenerCount('error')
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(((chunk: Uint8Array, done?: () => void) => {
      out.push(Buffer.from(chunk).toString())
      done?.()
      return true
    }) as never),
    vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => err.push(chunk.toString()) > 0),
  ]
  onTestFinished(() => spies.forEach((spy) => spy.mockRestore()))
  const { wire, giveBack } = takeStandardStreams()
  await new Promise((resolve) => wire.output.write('to the client', resolve))
  process.stdout.write('printed')
  giveBack()
  process.stdout.write('printed later')
  expect([out, err]).toEqual([['to the client', 'printed later'], ['printed']])
  expect(process.stdout.listenerCount('error')).toBe(listeners)
})
