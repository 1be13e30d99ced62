import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { takeBody } from '../src/body.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

it('a body is not kept in memory while it arrives', async () => {
  const first: WeakRef<Uint8Array>[] = []
  let sent = 0
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      if (sent++ === 40) controller.close()
      else controller.enqueue(new Uint8Array(65_536))
    },
  })
  const request = new Request('http://service.test/', { method: 'PUT', body, duplex: 'half' } as RequestInit)
  let kept = -1
  await takeBody(request, { atMost: 10_000_000, longestMs: 60_000 }, async (part) => {
    if (first.length < 10) first.push(new WeakRef(part))
    if (sent < 30) return
    // what was looked at in this turn stays until the next one
    await new Promise(setImmediate)
    collectGarbage()
    kept = first.filter((each) => each.deref() !== undefined).length
  })
  expect(kept).toBe(0)
})

it.each([
  ['does not arrive in time', { longestMs: 50 }],
  ['arrives too slowly', { longestMs: 600_000, slowest: { bytesPerMs: 1_000, afterMs: 50 } }],
])('a body that %s is given up, though parts of it come', async (_, limits) => {
  let timer: ReturnType<typeof setInterval> | undefined
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      timer = setInterval(() => controller.enqueue(new Uint8Array(1)), 5)
    },
    cancel: () => clearInterval(timer),
  })
  const request = new Request('http://service.test/', { method: 'PUT', body, duplex: 'half' } as RequestInit)
  expect(await takeBody(request, { atMost: 10_000_000, ...limits }, () => {})).toBe('tooSlow')
  clearInterval(timer)
})

it('of many bodies that arrive at once few parts are read in a turn, so that others are answered between them', async () => {
  let asked = 0
  const inTurns: number[] = []
  let isOver = false
  const watch = () => {
    inTurns.push(asked)
    asked = 0
    if (!isOver) setImmediate(watch)
  }
  const bodyOf = (parts: number) =>
    new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        pull(controller) {
          asked += 1
          if (parts-- === 0) controller.close()
          else controller.enqueue(new Uint8Array(10))
        },
      },
      { highWaterMark: 0 },
    )
  setImmediate(watch)
  const limits = { atMost: 1_000, longestMs: 60_000 }
  const taken = Array.from({ length: 100 }, async () => {
    let size = 0
    expect(await takeBody({ body: bodyOf(5) }, limits, ({ length }) => (size += length))).toBe(null)
    return size
  })
  expect(new Set(await Promise.all(taken))).toEqual(new Set([50]))
  isOver = true
  expect(Math.max(...inTurns, asked)).toBeLessThanOrEqual(16)
})
