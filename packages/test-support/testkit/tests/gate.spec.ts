import { getEventListeners } from 'node:events'
import { gate } from '@loopguard/testkit'
import { describe, expect, it } from 'vitest'

describe('a gate', () => {
  it('lets everybody through once it is open, and stays open', async () => {
    const door = gate()
    expect(door.isOpen).toBe(false)
    const waiting = [door.wait(), door.opened]
    door.open()
    door.open()
    await Promise.all(waiting)
    await door.wait()
    expect(door.isOpen).toBe(true)
  })

  it('is not waited for after an abort, whatever the reason, and leaves nothing on the signal', async () => {
    const door = gate()
    const abort = new AbortController()
    const waiting = door.wait(abort.signal)
    abort.abort('stop')
    await expect(waiting).rejects.toBe('stop')
    await expect(door.wait(abort.signal)).rejects.toBe('stop')
    const open = new AbortController()
    const passing = door.wait(open.signal)
    expect(getEventListeners(open.signal, 'abort')).toHaveLength(1)
    door.open()
    await passing
    expect(getEventListeners(open.signal, 'abort')).toEqual([])
  })
})
