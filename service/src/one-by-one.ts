import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Listener = (request: IncomingMessage, answer: ServerResponse) => unknown

/**
 * A client waits for its answer before it asks again on the same connection. Of what one sends without waiting only the
 * first request is carried out, and the connection ends with its answer: one read may hold thousands, all in one turn.
 */
export function oneByOne(listener: Listener): Listener {
  const last = new WeakMap<Socket, { answer: ServerResponse; isOnlyOne: boolean }>()
  return (request, answer) => {
    const { socket } = request
    const before = last.get(socket)
    if (!before || (before.answer.writableEnded && !before.isOnlyOne)) {
      last.set(socket, { answer, isOnlyOne: false })
      return listener(request, answer)
    }
    if (before.isOnlyOne) return
    before.isOnlyOne = true
    socket.pause()
    before.answer.shouldKeepAlive = false
    // where its head was out before
    before.answer.once('finish', () => socket.destroySoon())
  }
}
